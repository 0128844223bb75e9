// Package ltsv writes each record as a line of labeled tab-separated values,
// label:value<TAB>label:value, as ltsv.org has them.
//
// A line holds the date, the tag, the metadata and the group, if they have keys,
// and then all top-level fields of the record in their order, or the columns
// that were chosen. A field of the record that is named like one of the first
// wins over it. Of a key that comes twice the last counts.
//
//	null, missing        no field
//	string               its text; each invalid byte is U+FFFD
//	bool, numbers        as in JSON, exact; NaN, Infinity and -Infinity
//	bin, ext             base64 with padding
//	array, map           JSON
//
// LTSV can't hold a tab or a line break in a value and knows no escape for it:
// they are written as \t, \n and \r. A backslash stays as it is, so a value
// that has those two characters looks the same. In a label a colon is %3A too,
// and an empty label is _.
//
// Each event gives exactly one line or one reject: an event with nothing to
// write is rejected, since readers skip an empty line.
package ltsv

import (
	"io"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// Options say what a line is made of.
type Options struct {
	Columns []columns.Column // none is all of the record
	Values  columns.Options
}

// New returns the format.
func New(o Options) codec.BlockFormat { return format{o} }

type format struct{ options Options }

var (
	_ codec.BlockFormat  = format{}
	_ codec.BlockEncoder = (*encoder)(nil)
)

func (format) Extension() string { return ".ltsv" }

func (f format) NewBlockEncoder() codec.BlockEncoder { return newEncoder(f.options) }

func (f format) NewWriter(w io.Writer, _ codec.Meta) (codec.Writer, error) {
	return json.NewLineWriter(w, newEncoder(f.options)), nil
}

type encoder struct {
	options Options
	values  *columns.Renderer
	labels  [][]byte // of the columns, with their colons
	beside  []beside // what lies beside the record, in a line's order
	keys    keys
}

func newEncoder(o Options) *encoder {
	e := &encoder{options: o, values: columns.NewRenderer(o.Columns, o.Values)}
	for _, c := range o.Columns {
		e.labels = append(e.labels, appendLabel(nil, []byte(c.Name)))
	}
	e.addBeside(o.Values.DateKey, func(dst []byte, ev *event.Event, _ string) ([]byte, bool) { return e.values.AppendDate(dst, ev) })
	e.addBeside(o.Values.TagKey, func(dst []byte, _ *event.Event, tag string) ([]byte, bool) {
		return event.AppendValidUTF8(dst, []byte(tag)), true
	})
	e.addBeside(o.Values.MetadataKey, func(dst []byte, ev *event.Event, _ string) ([]byte, bool) { return e.values.AppendMetadata(dst, ev) })
	e.addBeside(o.Values.GroupKey, func(dst []byte, ev *event.Event, _ string) ([]byte, bool) { return e.values.AppendGroup(dst, ev) })
	return e
}

// beside is a field that lies beside the record.
type beside struct {
	key    string
	label  []byte
	append func(dst []byte, ev *event.Event, tag string) (_ []byte, ok bool)
}

// addBeside adds a field unless its key is empty.
func (e *encoder) addBeside(key string, add func(dst []byte, ev *event.Event, tag string) ([]byte, bool)) {
	if key != "" {
		e.beside = append(e.beside, beside{key, appendLabel(nil, []byte(key)), add})
	}
}

// Reasons of rejects.
const (
	noField = "the record has no field that the line would hold"
	noEnd   = "the record is cut short"
)

// Encode implements codec.BlockEncoder.
func (e *encoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	var rejects []codec.Reject
	for _, ev := range b.Events {
		reason := columns.Unsound(ev)
		begin := len(dst)
		if reason == "" {
			dst, reason = e.fields(dst, ev, b.Tag)
		}
		switch {
		case reason != "":
		case len(dst) == begin:
			reason = noField
		default:
			dst[len(dst)-1] = '\n' // was the tab behind the last field
			continue
		}
		dst = dst[:begin]
		rejects = append(rejects, codec.Reject{Event: ev, Reason: reason})
	}
	return dst, rejects
}

// fields appends the event's fields, each with a tab behind it.
func (e *encoder) fields(dst []byte, ev *event.Event, tag string) (_ []byte, reason string) {
	if len(e.labels) == 0 {
		return e.all(dst, ev, tag)
	}
	e.values.Read(ev)
	for i, label := range e.labels {
		start := len(dst)
		dst = append(dst, label...)
		value := len(dst)
		var ok bool
		if dst, ok = e.values.Append(dst, i, tag); !ok {
			dst = dst[:start]
			continue
		}
		dst = append(escape(dst, value), '\t')
	}
	return dst, ""
}

// all appends what lies beside the record and the record's own fields.
func (e *encoder) all(dst []byte, ev *event.Event, tag string) (_ []byte, reason string) {
	if reason := e.keys.read(ev.Body); reason != "" {
		return dst, reason
	}
	for i := range e.beside {
		f := &e.beside[i]
		if e.keys.has(f.key) {
			continue
		}
		start := len(dst)
		dst = append(dst, f.label...)
		value := len(dst)
		var ok bool
		if dst, ok = f.append(dst, ev, tag); !ok {
			dst = dst[:start]
			continue
		}
		dst = append(escape(dst, value), '\t')
	}
	for i := range e.keys.fields {
		f := &e.keys.fields[i]
		if f.again {
			continue
		}
		start := len(dst)
		dst = appendLabel(dst, f.key)
		value := len(dst)
		var ok bool
		if dst, ok = e.values.AppendValue(dst, f.value); !ok {
			dst = dst[:start]
			continue
		}
		dst = append(escape(dst, value), '\t')
	}
	return dst, ""
}
