// Package partition is the assigner that names buckets as Hive names
// partitions: one folder name=value for each field, one inside the other.
//
// It promises that a bucket never leaves the base path and is never hidden,
// whatever a record holds, and that a value can be read back from it. What
// can't be a folder name, a list or a text too long for a file system, is an
// error, never a shortened name: two values must not end in one partition.
//
// # Fields
//
// The option partition_by is a comma-separated list of name=template, such as
//
//	dt=%Y-%m-%d, ns=$kubernetes['namespace_name'], source=$TAG[1]
//
// A name is lower-cased, as Hive does with columns, and escaped like a value.
// It must not begin with a dot or an underscore and must not come twice.
//
// A template mixes text, strftime conversions of the event's time (package
// timepattern, %% is a percent sign) and record accessors (event.ParsePrefix,
// $$ is a dollar sign). Blanks around names and templates don't count. Text has
// no commas and no quotes.
//
// # Values
//
// Strings, and binaries, which older senders use for strings, count with their
// bytes; numbers and booleans are written as in JSON, a float that is whole
// with ".0". A key that is missing or null makes the field's whole value null,
// as SQL does when it concatenates; so does an empty result. Null is
// __HIVE_DEFAULT_PARTITION__. A value that is a map, a list or an extension is
// an error, and so is a text that is spelled like null's folder, a folder name over
// 255 bytes or a bucket over MaxBucket.
package partition

import (
	"errors"
	"fmt"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/eventtime"
	"github.com/out-hdfs/out_hdfs/assigner/hive"
	"github.com/out-hdfs/out_hdfs/assigner/intern"
	"github.com/out-hdfs/out_hdfs/assigner/timepattern"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// MaxBucket is the longest bucket in bytes, so that with its base path it stays
// below Linux's 4096 bytes a path and HDFS's 8000 characters.
const MaxBucket = 2048

// What Bucket's errors wrap.
var (
	ErrTooLong = errors.New("too long for a folder name")
	ErrKind    = errors.New("not a text, number or boolean")
	ErrNull    = errors.New("the value is spelled like the folder of null")
)

// Options says how buckets are named.
type Options struct {
	By     string         // the fields, in the syntax of partition_by
	Zone   *time.Location // of the strftime conversions; nil is the host's
	Source string         // which time counts; see eventtime.Parse
}

// Assigner names buckets as partitions. One goroutine uses it at a time.
type Assigner struct {
	source eventtime.Source
	timed  bool // a field has a strftime conversion
	fields []field
	seen   intern.Table
	bucket []byte // reused
	value  []byte // reused
}

// field is one folder of the bucket.
type field struct {
	name   string // as written to the folder, escaped
	pieces []piece
}

// piece is a text, an accessor or a formatted time: one of the three.
type piece struct {
	text     string
	accessor *event.Accessor
	memo     *timepattern.Memo
}

var _ assigner.Assigner = (*Assigner)(nil)

// New compiles the options.
func New(o Options) (*Assigner, error) {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	source, err := eventtime.Parse(o.Source, o.Zone)
	if err != nil {
		return nil, err
	}
	fields, err := parse(o.By, o.Zone)
	if err != nil {
		return nil, err
	}
	a := &Assigner{source: source, fields: fields}
	for _, f := range fields {
		for _, p := range f.pieces {
			a.timed = a.timed || p.memo != nil
		}
	}
	return a, nil
}

// Bucket answers with the event's partition. The error wraps ErrTooLong,
// ErrKind or ErrNull and names the field.
func (a *Assigner) Bucket(e *event.Event, c *assigner.Context) (string, error) {
	var sec int64
	var nsec uint32
	if a.timed {
		sec, nsec = a.source.At(e, c)
	}
	a.bucket = a.bucket[:0]
	for i := range a.fields {
		f := &a.fields[i]
		if i > 0 {
			a.bucket = append(a.bucket, '/')
		}
		var err error
		a.value, err = f.appendValue(a.value[:0], e, c.Tag, sec, nsec)
		if err != nil {
			return "", fmt.Errorf("partition field %s: %w", f.name, err)
		}
		if len(a.value) > timepattern.MaxSegment { // before it is copied: escaping never shortens
			return "", f.tooLong(len(a.value))
		}
		if string(a.value) == hive.DefaultPartition {
			return "", fmt.Errorf("partition field %s: %w, %s", f.name, ErrNull, hive.DefaultPartition)
		}
		start := len(a.bucket)
		a.bucket = append(append(a.bucket, f.name...), '=')
		a.bucket = hive.AppendEscaped(a.bucket, a.value)
		if n := len(a.bucket) - start; n > timepattern.MaxSegment {
			return "", f.tooLong(n)
		}
	}
	if len(a.bucket) > MaxBucket {
		return "", fmt.Errorf("partition: the bucket has %d bytes, at most %d are allowed: %w", len(a.bucket), MaxBucket, ErrTooLong)
	}
	return a.seen.Get(a.bucket), nil
}

func (f *field) tooLong(n int) error {
	return fmt.Errorf("partition field %s: the folder name has at least %d bytes, at most %d are allowed: %w",
		f.name, n, timepattern.MaxSegment, ErrTooLong)
}

// appendValue appends the field's value, nothing if it is null. Of a text that is
// too long for a folder name it copies no more than shows that.
func (f *field) appendValue(dst []byte, e *event.Event, tag string, sec int64, nsec uint32) ([]byte, error) {
	for i := range f.pieces {
		p := &f.pieces[i]
		switch {
		case p.accessor != nil:
			var null bool
			var err error
			if dst, null, err = appendAccessed(dst, p.accessor, e, tag); err != nil {
				return dst, err
			}
			if null {
				return dst[:0], nil
			}
		case p.memo != nil:
			dst = append(dst, p.memo.Format(sec, nsec)...)
		default:
			dst = append(dst, p.text...)
		}
	}
	return dst, nil
}

func appendAccessed(dst []byte, a *event.Accessor, e *event.Event, tag string) (out []byte, null bool, err error) {
	if a.IsTag() {
		s, ok := a.Tag(tag)
		return append(dst, s...), !ok, nil
	}
	raw, ok := a.Lookup(e)
	if !ok {
		return dst, true, nil
	}
	switch kind := event.KindOf(raw); kind {
	case event.KindNil:
		return dst, true, nil
	case event.KindString, event.KindBin:
		s, _ := event.Text(raw)
		return append(dst, s[:min(len(s), timepattern.MaxSegment+1)]...), false, nil
	case event.KindBool, event.KindInt, event.KindUint, event.KindFloat32, event.KindFloat64:
		dst, _ = event.AppendScalar(dst, raw)
		return dst, false, nil
	default:
		return dst, false, fmt.Errorf("%s is of type %s: %w", a, kind, ErrKind)
	}
}
