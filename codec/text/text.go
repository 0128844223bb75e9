// Package text writes one field of each record as it is: the lines of a log
// file come out as they went in.
//
// The field's bytes aren't changed, whatever their encoding; only one newline
// at their end is dropped before the line's own is added. Newlines within the
// field stay, so a stack trace that was joined to one record spreads over
// several lines again. A record whose field is missing or nil, or whose tag has
// too few parts, is written as JSON, so that nothing is lost; booleans and numbers are written as such,
// arrays and maps as JSON.
package text

import (
	"fmt"
	"io"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// DefaultKey is the field where the user names none.
const DefaultKey = "log"

// Options say what a line is made of.
type Options struct {
	Key  *event.Accessor // of the record or the tag; nil is DefaultKey
	JSON json.Options    // how a record without the field is written
}

// New returns the format.
func New(o Options) codec.Format {
	if o.Key == nil {
		o.Key = event.NewKey(DefaultKey)
	}
	return format{o}
}

type format struct{ options Options }

var (
	_ codec.BlockFormat  = format{}
	_ codec.BlockEncoder = (*encoder)(nil)
)

func (format) Extension() string { return ".txt" }

func (f format) NewBlockEncoder() codec.BlockEncoder { return newEncoder(f.options) }

func (f format) NewWriter(w io.Writer, _ codec.Meta) (codec.Writer, error) {
	return json.NewLineWriter(w, newEncoder(f.options)), nil
}

type encoder struct {
	key    *event.Accessor
	lines  *json.Encoder
	values json.Appender
}

func newEncoder(o Options) *encoder {
	return &encoder{key: o.Key, lines: json.NewEncoder(o.JSON)}
}

// Encode appends the events' lines. Of malformed events there is no field to
// write: they are rejected.
func (e *encoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	var rejects []codec.Reject
	for _, ev := range b.Events {
		reason := ev.Malformed
		if reason == "" {
			dst, reason = e.appendLine(dst, ev, b.Tag)
		}
		if reason != "" {
			rejects = append(rejects, codec.Reject{Event: ev, Reason: reason})
		}
	}
	return dst, rejects
}

func (e *encoder) appendLine(dst []byte, ev *event.Event, tag string) (_ []byte, reason string) {
	if e.key.IsTag() {
		part, ok := e.key.Tag(tag)
		if !ok {
			return e.lines.AppendLine(dst, ev, tag)
		}
		return append(append(dst, part...), '\n'), ""
	}
	raw, _ := e.key.Lookup(ev)
	switch event.KindOf(raw) {
	case event.KindInvalid, event.KindNil:
		return e.lines.AppendLine(dst, ev, tag)
	case event.KindString, event.KindBin:
		s, _ := event.Text(raw)
		if n := len(s); n > 0 && s[n-1] == '\n' {
			s = s[:n-1]
		}
		dst = append(dst, s...)
	case event.KindArray, event.KindMap:
		start := len(dst)
		var err error
		if dst, err = e.values.AppendValue(dst, raw); err != nil {
			return dst[:start], fmt.Sprintf("%s: %v", e.key, err)
		}
	default:
		dst, _ = event.AppendScalar(dst, raw)
	}
	return append(dst, '\n'), ""
}
