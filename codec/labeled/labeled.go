// Package labeled writes each record as a line of labeled values, which formats
// such as LTSV have in common: what a line holds is here, how a label and a value
// look is the format's Style.
//
// A line holds the date, the tag, the metadata and the group, if they have keys,
// and then all top-level fields of the record in their order, or the columns
// that were chosen. A field of the record that is named like one of the first
// wins over it. Of a key that comes twice the last counts. Null is no field.
//
// Each event gives exactly one line or one reject: an event with nothing to
// write is rejected (codec.NoValue), so that no line is empty.
package labeled

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

// Style is how a format writes a line. Its functions keep nothing.
type Style struct {
	// AppendLabel appends a key, which may be any bytes, and what stands between
	// it and the value.
	AppendLabel func(dst, key []byte) []byte
	// Finish makes what dst holds from value on, which is valid UTF-8, a value of
	// the format: escaped, or quoted.
	Finish    func(dst []byte, value int) []byte
	Separator byte // between fields
}

// New returns a format of lines in the style.
func New(o Options, style Style, extension string) codec.BlockFormat {
	return format{o, style, extension}
}

type format struct {
	options   Options
	style     Style
	extension string
}

var (
	_ codec.BlockFormat  = format{}
	_ codec.BlockEncoder = (*encoder)(nil)
)

func (f format) Extension() string { return f.extension }

func (f format) NewBlockEncoder() codec.BlockEncoder { return newEncoder(f.options, f.style) }

func (f format) NewWriter(w io.Writer, _ codec.Meta) (codec.Writer, error) {
	return json.NewLineWriter(w, newEncoder(f.options, f.style)), nil
}

type encoder struct {
	style   Style
	values  *columns.Renderer
	labels  [][]byte  // of the columns
	outside []outside // what lies outside the record, in a line's order
	keys    keys
}

func newEncoder(o Options, style Style) *encoder {
	e := &encoder{style: style, values: columns.NewRenderer(o.Columns, o.Values)}
	for _, c := range o.Columns {
		e.labels = append(e.labels, style.AppendLabel(nil, []byte(c.Name)))
	}
	e.addOutside(o.Values.DateKey, func(dst []byte, ev *event.Event, _ string) ([]byte, bool) { return e.values.AppendDate(dst, ev) })
	e.addOutside(o.Values.TagKey, func(dst []byte, _ *event.Event, tag string) ([]byte, bool) {
		return event.AppendValidUTF8(dst, []byte(tag)), true
	})
	e.addOutside(o.Values.MetadataKey, func(dst []byte, ev *event.Event, _ string) ([]byte, bool) { return e.values.AppendMetadata(dst, ev) })
	e.addOutside(o.Values.GroupKey, func(dst []byte, ev *event.Event, _ string) ([]byte, bool) { return e.values.AppendGroup(dst, ev) })
	return e
}

// outside is a field that lies outside the record.
type outside struct {
	key    string
	label  []byte
	append func(dst []byte, ev *event.Event, tag string) (_ []byte, ok bool)
}

// addOutside adds a field unless its key is empty.
func (e *encoder) addOutside(key string, add func(dst []byte, ev *event.Event, tag string) ([]byte, bool)) {
	if key != "" {
		e.outside = append(e.outside, outside{key, e.style.AppendLabel(nil, []byte(key)), add})
	}
}

// noEnd is the reason of a reject.
const noEnd = "the record is cut short"

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
			reason = codec.NoValue
		default:
			dst[len(dst)-1] = '\n' // was the separator behind the last field
			continue
		}
		dst = dst[:begin]
		rejects = append(rejects, codec.Reject{Event: ev, Reason: reason})
	}
	return dst, rejects
}

// fields appends the event's fields, each with a separator behind it.
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
		dst = append(e.style.Finish(dst, value), e.style.Separator)
	}
	return dst, ""
}

// all appends what lies outside the record and the record's own fields.
func (e *encoder) all(dst []byte, ev *event.Event, tag string) (_ []byte, reason string) {
	if reason := e.keys.read(ev.Body); reason != "" {
		return dst, reason
	}
	for i := range e.outside {
		f := &e.outside[i]
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
		dst = append(e.style.Finish(dst, value), e.style.Separator)
	}
	for i := range e.keys.fields {
		f := &e.keys.fields[i]
		if f.replaced {
			continue
		}
		start := len(dst)
		dst = e.style.AppendLabel(dst, f.key)
		value := len(dst)
		var ok bool
		if dst, ok = e.values.AppendValue(dst, f.value); !ok {
			dst = dst[:start]
			continue
		}
		dst = append(e.style.Finish(dst, value), e.style.Separator)
	}
	return dst, ""
}
