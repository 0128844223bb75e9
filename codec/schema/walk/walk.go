// Package walk takes records apart under a schema: it finds the value of each
// field, converts it to the field's type and hands it to an Emitter, which
// writes it in its format. Avro and Parquet differ in the emitter alone.
//
// It promises:
//   - What the emitter gets is whole records of checked values, in the schema's
//     order. Of a record that doesn't fit nothing is left behind (Rewind), and
//     the reason names the field.
//   - A record of which a given schema holds nothing doesn't fit: its row would say
//     nothing (codec.NoValue).
//   - Under a learned schema every event fits whose record is sound: what no
//     column holds goes to the field for the rest, and is learned.
//   - No memory is allocated per record once the buffers have grown.
//
// It must never know a format, or change a value but by package convert.
package walk

import (
	"strconv"

	"github.com/tinylib/msgp/msgp"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/convert"
)

// Walker walks records under one schema at a time. One goroutine uses it at a
// time.
type Walker struct {
	emit     Emitter
	freeForm FreeForm // nil: free-form values are text
	root     *schema.Record
	rest     int // index of the root's field for the rest, -1 for none
	learned  bool

	binder  binder
	convert convert.Converter
	fault   fault // of the record at hand
	depth   int
	empty   bool // the record at hand has shown no value yet

	tag     string // whose msgpack rawTag is
	rawTag  []byte
	outside []byte // what lies outside the records and had to be made, as msgpack
	hexIDs  event.IDs
	unknown []byte // what the records had no field for, for Learn
}

// Use makes the records that follow ones of the schema. root is its root or a
// format's copy of that.
func (w *Walker) Use(s *schema.Schema, root *schema.Record, e Emitter) {
	w.emit, w.root, w.rest, w.learned = e, root, s.Rest, s.Rules == schema.Learned
	w.convert.Rules, w.convert.Zone = s.Rules, s.Zone
	w.hexIDs = hexIDs(root)
	w.binder.keep, w.binder.refuse = s.Rest >= 0, s.Rules == schema.Strict
}

// UseFreeForm hands free-form values to f from now on.
func (w *Walker) UseFreeForm(f FreeForm) { w.freeForm = f }

// Reset ends the life of all bytes that the emitter got.
func (w *Walker) Reset() {
	w.convert.Reset()
	w.outside = w.outside[:0]
}

// Memory is what the walker holds for itself, in bytes.
func (w *Walker) Memory() int64 { return int64(cap(w.unknown)) + w.convert.Memory() }

// Unknown returns what the records since the last call had no field for, as
// Schemas.Learn takes it, and drops every reference to the records. What it
// returns lives until the next record; if it is larger than keep, in bytes, its
// memory isn't used again.
func (w *Walker) Unknown(keep int) []byte {
	unknown := w.unknown
	w.unknown = w.unknown[:0]
	if cap(unknown) > keep {
		w.unknown = nil
	}
	w.binder.forget()
	return unknown
}

// Record emits an event. If reason isn't empty the schema can't hold it, and
// the emitter is where it was. b is the event's batch: it has the tag, which is
// the same between two Resets, and the arrival.
func (w *Walker) Record(e *event.Event, b *event.Batch) (reason string) {
	if e.Malformed != "" {
		return e.Malformed
	}
	w.binder.reset()
	w.fault.reset()
	w.depth = 0
	w.convert.Arrival = b.Arrival.Unix()
	base, ok := w.bind(w.root, e.Body)
	if !ok {
		return w.fault.String()
	}
	w.putOutside(base, e, b.Tag)
	mark := w.emit.Mark()
	ok = w.top(base)
	w.binder.release(base)
	switch {
	case !ok:
		w.emit.Rewind(mark)
		return w.fault.String()
	case w.empty && !w.learned:
		w.emit.Rewind(mark)
		return codec.NoValue
	}
	return ""
}

// bind is the binder's, with the fault of a key that nothing takes.
func (w *Walker) bind(r *schema.Record, raw []byte) (base int, ok bool) {
	base, unknown, ok := w.binder.bind(r, raw)
	if unknown != nil {
		w.fault.unknown(unknown)
	}
	return base, ok
}

// putOutside gives the fields their values that lie outside the record.
func (w *Walker) putOutside(base int, e *event.Event, tag string) {
	for i, f := range w.root.Fields {
		if f.From == schema.FromRecord || f.From == schema.FromRest || w.binder.value(base, i) != nil {
			continue
		}
		switch f.From {
		case schema.FromTime:
			from := len(w.outside)
			w.outside = event.AppendTimestamp(w.outside, e.Time)
			w.binder.put(base, i, w.outside[from:len(w.outside):len(w.outside)])
		case schema.FromTag:
			if w.rawTag == nil || w.tag != tag {
				w.tag, w.rawTag = tag, msgp.AppendString(w.rawTag[:0], tag)
			}
			w.binder.put(base, i, w.rawTag)
		case schema.FromMetadata:
			w.putMap(base, i, w.metadata(e.Meta))
		case schema.FromGroup:
			if e.Group != nil {
				w.putMap(base, i, e.Group.Body)
			}
		}
	}
}

// metadata is an event's, with OpenTelemetry's ids as hex where the schema has
// text for them.
func (w *Walker) metadata(meta []byte) []byte {
	from := len(w.outside)
	var changed bool
	if w.outside, changed = event.HexIDs(w.outside, meta, w.hexIDs); !changed {
		return meta
	}
	return w.outside[from:len(w.outside):len(w.outside)]
}

// hexIDs are the ids for which a schema has no bytes in its metadata.
func hexIDs(root *schema.Record) event.IDs {
	ids := event.TraceID | event.SpanID
	for _, f := range root.Fields {
		if f.From != schema.FromMetadata || f.Type.Kind != schema.RecordKind {
			continue
		}
		i := f.Type.Record.Find([]byte("otlp"))
		if i < 0 || f.Type.Record.Fields[i].Type.Kind != schema.RecordKind {
			continue
		}
		otlp := f.Type.Record.Fields[i].Type.Record
		for key, id := range map[string]event.IDs{"trace_id": event.TraceID, "span_id": event.SpanID} {
			if i := otlp.Find([]byte(key)); i >= 0 {
				if k := otlp.Fields[i].Type.Kind; k == schema.Bytes || k == schema.Fixed {
					ids &^= id
				}
			}
		}
	}
	return ids
}

// putMap leaves an empty map out, as in JSON.
func (w *Walker) putMap(base, i int, raw []byte) {
	if f := event.FieldsOf(raw); f.Left() > 0 {
		w.binder.put(base, i, raw)
	}
}

// top emits the fields of the root. What no field takes is known when all of them
// are emitted.
func (w *Walker) top(base int) bool {
	w.empty = true
	for i, f := range w.root.Fields {
		if i == w.rest {
			w.emit.Rest(f.Type)
			continue
		}
		raw := w.binder.value(base, i)
		w.empty = w.empty && (raw == nil || raw[0] == 0xc0)
		if !w.field(f, raw) {
			return false
		}
	}
	return w.rest < 0 || w.putRest(w.root.Fields[w.rest].Type)
}

// putRest emits the field for the rest.
func (w *Walker) putRest(t *schema.Type) bool {
	rest := w.binder.extra.all()
	switch {
	case rest != nil:
		w.empty = false
		if w.learned {
			w.unknown = append(w.unknown, rest...)
		}
	case t.Nullable:
		w.emit.PutRest(t, nil)
		return true
	default:
		rest = emptyMap
	}
	if w.isFreeForm(t) {
		return w.freeForm.FreeForm(t, rest)
	}
	text, ok := w.convert.JSON(rest)
	if ok {
		w.emit.PutRest(t, text)
	}
	return ok
}

var emptyMap = []byte{0x80} // msgpack

func (w *Walker) isFreeForm(t *schema.Type) bool {
	return t.Logical == schema.FreeForm && w.freeForm != nil
}

// field emits a field; raw is nil if the record has none. Under a learned
// schema what doesn't fit is null and goes to the rest.
func (w *Walker) field(f *schema.Field, raw []byte) (ok bool) {
	t := f.Type
	if raw == nil || raw[0] == 0xc0 && !t.Nullable && f.Default != nil && w.convert.Rules == schema.Lenient {
		raw = f.Default
	}
	if (raw == nil || raw[0] == 0xc0) && t.Nullable {
		w.emit.Null(t)
		return true
	}
	switch {
	case raw == nil && t.Kind != schema.Null && t.Kind != schema.Union:
		w.fault.reason = "it is missing and has no default"
	case w.binder.inside > 0:
		ok = w.value(t, raw)
	case t.Kind == schema.RecordKind:
		w.binder.extra.enter(f.RawKey())
		ok = w.value(t, raw)
		w.binder.extra.leave()
	case t.Kind == schema.Array || t.Kind == schema.Map || t.Kind == schema.Union:
		w.binder.inside++
		ok = w.value(t, raw)
		w.binder.inside--
		if ok && w.binder.missed {
			w.binder.extra.add(f.RawKey(), raw)
		}
		w.binder.missed = false
	default:
		ok = w.value(t, raw)
	}
	switch {
	case ok:
		return true
	case !w.learned:
		w.fault.path = append(w.fault.path, f.Name)
		return false
	case w.binder.inside > 0:
		w.binder.missed = true
	default:
		w.binder.extra.add(f.RawKey(), raw)
	}
	w.emit.Null(t)
	return true
}

// value emits a value. If it doesn't fit, nothing was emitted under a learned
// schema, and under a given one the record or the union's try is taken back. The
// reason is noted unless the schema is learned: there it is no fault.
func (w *Walker) value(t *schema.Type, raw []byte) bool {
	if len(raw) == 0 || raw[0] == 0xc0 {
		switch {
		case t.Nullable:
			w.emit.Null(t)
			return true
		case t.Kind == schema.Null:
			return true
		case t.Kind != schema.Union:
			return w.misfit(t, raw)
		}
	}
	switch t.Kind {
	case schema.String:
		if w.isFreeForm(t) {
			return w.freeForm.FreeForm(t, raw)
		}
		if s, ok := w.convert.Text(t, raw); ok {
			w.emit.Bytes(t, s)
			return true
		}
	case schema.Int, schema.Long:
		if v, ok := w.convert.Long(t, raw); ok {
			w.emit.Long(t, v)
			return true
		}
	case schema.Double, schema.Float:
		if v, ok := w.convert.Double(t, raw); ok {
			w.emit.Double(t, v)
			return true
		}
	case schema.Boolean:
		if v, ok := w.convert.Bool(raw); ok {
			w.emit.Bool(t, v)
			return true
		}
	case schema.RecordKind, schema.Array, schema.Map:
		return w.nested(t, raw)
	default:
		return w.rare(t, raw)
	}
	return w.misfit(t, raw)
}

// rare emits what most records don't have.
func (w *Walker) rare(t *schema.Type, raw []byte) bool {
	var b []byte
	var ok bool
	switch {
	case t.Logical == schema.Decimal:
		b, ok = w.convert.Decimal(t, raw)
	case t.Kind == schema.Bytes:
		b, ok = w.convert.Bytes(raw)
	case t.Kind == schema.Fixed:
		b, ok = w.convert.Fixed(t, raw)
	case t.Kind == schema.Enum:
		if i, ok := w.convert.Symbol(t, raw); ok {
			s, _ := event.Text(raw)
			w.emit.Symbol(t, i, s)
			return true
		}
	case t.Kind == schema.Union:
		return w.union(t, raw)
	}
	if !ok {
		return w.misfit(t, raw)
	}
	w.emit.Bytes(t, b)
	return true
}

func (w *Walker) misfit(t *schema.Type, raw []byte) bool {
	if !w.learned && w.fault.reason == "" {
		w.fault.reason = convert.Reason(t, raw)
	}
	return false
}

// nested emits what has parts.
func (w *Walker) nested(t *schema.Type, raw []byte) (ok bool) {
	if !convert.Fits(t, raw) {
		return w.misfit(t, raw)
	}
	if w.depth >= event.MaxDepth {
		return false
	}
	w.depth++
	switch t.Kind {
	case schema.Array:
		ok = w.array(t, raw)
	case schema.Map:
		ok = w.pairs(t, raw)
	default:
		ok = w.fields(t, raw)
	}
	w.depth--
	return ok
}

func (w *Walker) fields(t *schema.Type, raw []byte) bool {
	base, ok := w.bind(t.Record, raw)
	if !ok {
		return false
	}
	w.emit.Record(t)
	for i, f := range t.Record.Fields {
		if ok = w.field(f, w.binder.value(base, i)); !ok {
			break
		}
	}
	w.binder.release(base)
	return ok
}

func (w *Walker) array(t *schema.Type, raw []byte) bool {
	items := event.ElementsOf(raw)
	w.emit.Begin(t, items.Left())
	for i := 0; items.Next(); i++ {
		if i > 0 {
			w.emit.Next(t)
		}
		if w.value(t.Items, items.Value) {
			continue
		}
		if !w.learned {
			w.fault.path = append(w.fault.path, "["+strconv.Itoa(i)+"]")
			return false
		}
		w.binder.missed = true
		w.emit.Null(t.Items)
	}
	w.emit.End(t)
	return true
}

func (w *Walker) pairs(t *schema.Type, raw []byte) bool {
	pairs, base := w.convert.Pairs(raw)
	defer w.convert.ReleasePairs(base)
	w.emit.Begin(t, len(pairs))
	for i, p := range pairs {
		if i > 0 {
			w.emit.Next(t)
		}
		w.emit.Key(t, p.Key)
		if !w.value(t.Items, p.Value) {
			w.fault.path = append(w.fault.path, "["+strconv.Quote(string(p.Key))+"]")
			return false
		}
	}
	w.emit.End(t)
	return true
}
