package columns

import (
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// Options say what plain columns fall back on.
type Options struct {
	DateKey    string // "" is none
	DateFormat json.DateFormat
	TagKey     string // "" is none
	// MetadataKey is of the event's metadata and GroupKey of its group's body, if
	// they hold anything; "" is none.
	MetadataKey, GroupKey string
}

// Renderer renders the values of events' columns as text. One goroutine uses
// it at a time.
type Renderer struct {
	columns []Column
	sources []source
	options Options
	dates   *json.Dates
	nested  json.Appender
	meta    []byte // see AppendMetadata
	event   *event.Event
}

// source is where a column's value lies in a record. The record is walked once
// for all columns; what lies deeper is looked up in the column's own field.
type source struct {
	key  string          // the top-level field
	rest *event.Accessor // within the field; nil is the field itself
	// all is the whole accessor where rest can't be one of its own, since an
	// accessor begins with a key.
	all *event.Accessor
	raw []byte // of the event at hand; nil if it isn't there
}

// NewRenderer returns a renderer of the columns.
func NewRenderer(columns []Column, o Options) *Renderer {
	r := &Renderer{columns: columns, options: o, dates: json.NewDates(o.DateFormat)}
	for _, c := range columns {
		var s source
		if !c.value.IsTag() {
			var rest string
			if s.key, rest = cutStep(c.value.String()[1:]); rest != "" {
				var err error
				if s.rest, err = event.ParseAccessor("$" + rest); err != nil {
					s.all = c.value
				}
			}
		}
		r.sources = append(r.sources, s)
	}
	return r
}

// Read makes e the event at hand, which must have a record (see Unsound).
func (r *Renderer) Read(e *event.Event) {
	r.event = e
	for i := range r.sources {
		r.sources[i].raw = nil
	}
	for f := event.FieldsOf(e.Body); f.Next(); {
		key, ok := event.Text(f.Key)
		if !ok {
			continue
		}
		for i := range r.sources {
			if s := &r.sources[i]; len(s.key) == len(key) && s.key == string(key) {
				s.raw = f.Value
			}
		}
	}
}

// lookup is the raw value of column i.
func (r *Renderer) lookup(i int) (raw []byte, ok bool) {
	s := &r.sources[i]
	switch {
	case s.all != nil:
		return s.all.Lookup(r.event)
	case s.rest != nil:
		return s.rest.LookupIn(s.raw)
	}
	return s.raw, s.raw != nil
}

// Append appends what column i holds of the event at hand as text: scalars as
// event.AppendScalar has them, arrays and maps as JSON. ok is false, and dst as
// it was, if that is nothing: missing, nil, or a time that is unset.
func (r *Renderer) Append(dst []byte, i int, tag string) (_ []byte, ok bool) {
	c := &r.columns[i]
	if c.value.IsTag() {
		text, ok := c.value.Tag(tag)
		return event.AppendValidUTF8(dst, []byte(text)), ok
	}
	raw, found := r.lookup(i)
	switch {
	case found:
		return r.AppendValue(dst, raw)
	case !c.plain:
	case c.Name == r.options.DateKey:
		return r.AppendDate(dst, r.event)
	case c.Name == r.options.TagKey:
		return event.AppendValidUTF8(dst, []byte(tag)), true
	case c.Name == r.options.MetadataKey:
		return r.AppendMetadata(dst, r.event)
	case c.Name == r.options.GroupKey:
		return r.AppendGroup(dst, r.event)
	}
	return dst, false
}

// AppendDate appends the event's time; ok is false if it has none.
func (r *Renderer) AppendDate(dst []byte, e *event.Event) (_ []byte, ok bool) {
	return r.dates.AppendText(dst, e.Time)
}

// AppendMetadata appends the event's metadata as JSON, OpenTelemetry's ids as
// hex; ok is false if it has none.
func (r *Renderer) AppendMetadata(dst []byte, e *event.Event) (_ []byte, ok bool) {
	meta, changed := event.HexIDs(r.meta[:0], e.Meta, event.TraceID|event.SpanID)
	if !changed {
		return r.appendMap(dst, e.Meta)
	}
	const keep = 64 << 10
	if r.meta = meta; cap(meta) > keep {
		r.meta = nil
	}
	return r.appendMap(dst, meta)
}

// AppendGroup appends the body of the event's group as JSON; ok is false if it
// has none.
func (r *Renderer) AppendGroup(dst []byte, e *event.Event) (_ []byte, ok bool) {
	if e.Group == nil {
		return dst, false
	}
	return r.appendMap(dst, e.Group.Body)
}

func (r *Renderer) appendMap(dst, raw []byte) (_ []byte, ok bool) {
	if pairs := event.FieldsOf(raw); pairs.Left() == 0 {
		return dst, false
	}
	return r.AppendValue(dst, raw)
}

// AppendValue appends a msgpack value as Append does. ok is false for nil, and
// for what is no whole value.
func (r *Renderer) AppendValue(dst, raw []byte) (_ []byte, ok bool) {
	switch event.KindOf(raw) {
	case event.KindNil, event.KindInvalid:
		return dst, false
	case event.KindArray, event.KindMap:
		dst, err := r.nested.AppendValue(dst, raw)
		return dst, err == nil
	}
	dst, _ = event.AppendScalar(dst, raw)
	return dst, true
}

// Unsound says why an event has no record, "" if it has one.
func Unsound(e *event.Event) string {
	switch {
	case e.Malformed != "":
		return e.Malformed
	case event.KindOf(e.Body) != event.KindMap:
		return "the record is no map"
	}
	return ""
}
