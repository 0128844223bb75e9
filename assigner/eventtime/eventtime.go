// Package eventtime decides by which instant an event is put into a bucket:
// the record's own, its arrival, or a value that a record accessor names.
//
// It always has an answer: a time that is missing, that can't be read, that
// isn't after 1970-01-01 (UTC) or that is beyond the year 9999 is replaced by
// the arrival, so a clock that starts in 1970 or a wrong unit never makes a
// bucket of its own. It allocates nothing and keeps no reference to an event.
package eventtime

import (
	"fmt"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// What a time source may be called, beside a record accessor.
const (
	Record  = "record"
	Arrival = "arrival"
)

// The seconds that count as a time: after 1970-01-01, before the year 10000.
const (
	firstSec = 86400
	lastSec  = 253402300799
)

type kind uint8

const (
	kindRecord kind = iota
	kindArrival
	kindAccessor
)

// Source is where instants come from. The zero Source is the record's time. It
// is immutable and safe for concurrent use.
type Source struct {
	kind     kind
	accessor *event.Accessor
	loc      *time.Location
}

// Parse takes Record, Arrival (in any case) or a record accessor such as $time.
// A text that an accessor finds and that says no zone is read in loc, which
// should be the zone the buckets are named in.
func Parse(source string, loc *time.Location) (Source, error) {
	switch {
	case strings.EqualFold(source, Record):
		return Source{}, nil
	case strings.EqualFold(source, Arrival):
		return Source{kind: kindArrival}, nil
	case strings.HasPrefix(source, "$"):
		a, err := event.ParseAccessor(source)
		if err != nil {
			return Source{}, fmt.Errorf("time source %q: %w", source, err)
		}
		return Source{kind: kindAccessor, accessor: a, loc: loc}, nil
	}
	return Source{}, fmt.Errorf("time source %q is none of %s, %s and a record accessor such as $time", source, Record, Arrival)
}

// At returns the event's instant as Unix time.
func (s *Source) At(e *event.Event, c *assigner.Context) (sec int64, nsec uint32) {
	ok := false
	switch s.kind {
	case kindRecord:
		sec, nsec, ok = e.Time.Sec, e.Time.Nsec, e.Time.Set
	case kindAccessor:
		sec, nsec, ok = s.lookup(e, c.Tag)
	}
	if !ok || sec < firstSec || sec > lastSec {
		return c.Arrival.Unix(), uint32(c.Arrival.Nanosecond())
	}
	return sec, nsec
}

func (s *Source) lookup(e *event.Event, tag string) (sec int64, nsec uint32, ok bool) {
	if s.accessor.IsTag() {
		text, ok := s.accessor.Tag(tag)
		if !ok {
			return 0, 0, false
		}
		return readText(text, s.loc)
	}
	raw, ok := s.accessor.Lookup(e)
	if !ok {
		return 0, 0, false
	}
	return readValue(raw, s.loc)
}
