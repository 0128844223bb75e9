// Package json writes one JSON object a line and event, the format that Hive,
// Spark, Trino and every shell read.
//
// A line holds the date, the tag and what else Options ask for, then the
// record's own fields in their order. It is always valid JSON and valid UTF-8
// whatever the record holds, and each event gives exactly one line or one
// reject. A field of the record that is named like one of the added ones wins
// over it, as in Fluent Bit's own outputs: the record is never changed.
//
// Encoding is on the hot path: it allocates nothing per event.
package json

import (
	"io"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// DefaultDateKey is the date's key where the user names none.
const DefaultDateKey = "date"

// Options say what a line holds besides the record's fields. An empty key
// leaves its field out.
type Options struct {
	DateKey     string // the event's time; null if it has none
	DateFormat  DateFormat
	TagKey      string // the chunk's tag
	MetadataKey string // the event's metadata, if there is any
	GroupKey    string // the body of the event's group (OTLP resource and scope), if there is any
}

// New returns the format.
func New(o Options) codec.Format { return format{o} }

type format struct{ options Options }

var (
	_ codec.BlockFormat  = format{}
	_ codec.BlockEncoder = (*Encoder)(nil)
	_ codec.BlockWriter  = (*LineWriter)(nil)
)

func (format) Extension() string { return ".json" }

func (f format) NewBlockEncoder() codec.BlockEncoder { return NewEncoder(f.options) }

func (f format) NewWriter(w io.Writer, _ codec.Meta) (codec.Writer, error) {
	return NewLineWriter(w, NewEncoder(f.options)), nil
}

// Encoder renders events as lines. It is the format's BlockEncoder, and what
// other row formats fall back on. One goroutine uses it at a time.
type Encoder struct {
	appender Appender
	shapes   shapes
	date     dateWriter

	dateKey, tagKey, metaKey, groupKey renderedKey
	meta                               []byte // see metadata

	tag      string // whose JSON tagValue is
	tagValue []byte
}

// NewEncoder returns an encoder of the lines that o describes.
func NewEncoder(o Options) *Encoder {
	return &Encoder{
		date:     dateWriter{format: o.DateFormat},
		dateKey:  render(o.DateKey),
		tagKey:   render(o.TagKey),
		metaKey:  render(o.MetadataKey),
		groupKey: render(o.GroupKey),
		tagValue: []byte(`""`),
	}
}

// renderedKey is a key as appendKey writes it, and nothing if it is off.
type renderedKey struct {
	json []byte
	hash uint32
}

func render(key string) (k renderedKey) {
	if key != "" {
		k.json, k.hash = appendKey(nil, []byte(key))
	}
	return k
}

// perLine is a guess at what a line needs beyond its event's msgpack size. It
// only decides how often dst grows.
const perLine = 96

// Encode appends a line for each event. A malformed event, or one whose record
// no Reader has checked and that isn't sound, is rejected.
func (e *Encoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	dst = grow(dst, b.Events)
	var rejects []codec.Reject
	for _, ev := range b.Events {
		var reason string
		if dst, reason = e.AppendLine(dst, ev, b.Tag); reason != "" {
			rejects = append(rejects, codec.Reject{Event: ev, Reason: reason})
		}
	}
	return dst, rejects
}

func grow(dst []byte, events []*event.Event) []byte {
	need := len(dst)
	for _, ev := range events {
		need += len(ev.Raw) + len(ev.Raw)/4 + perLine
	}
	if need <= cap(dst) {
		return dst
	}
	return append(make([]byte, 0, need), dst...)
}

// AppendLine appends the event's line with its "\n". If reason isn't empty the
// event can't be encoded, and dst comes back as it was.
func (e *Encoder) AppendLine(dst []byte, ev *event.Event, tag string) (_ []byte, reason string) {
	if ev.Malformed != "" {
		return dst, ev.Malformed
	}
	start := len(dst)
	dst, ok := e.line(dst, ev, tag)
	e.appender.shrink()
	if !ok {
		return dst[:start], unsound
	}
	return append(dst, '\n'), ""
}

const unsound = "the record is cut short or nested too deep"

func (e *Encoder) line(dst []byte, ev *event.Event, tag string) ([]byte, bool) {
	a := &e.appender
	o := object{base: len(a.members), start: len(dst), table: -1}
	if e.dateKey.json != nil {
		dst = a.field(&o, dst, e.dateKey)
		dst = e.date.append(dst, ev.Time)
	}
	if e.tagKey.json != nil {
		dst = a.field(&o, dst, e.tagKey)
		dst = append(dst, e.tagJSON(tag)...)
	}
	ok, meta := true, len(a.members)
	if e.metaKey.json != nil {
		dst, ok = a.mapField(&o, dst, e.metaKey, e.metadata(ev))
	}
	meta = len(a.members) - meta
	group := len(a.members)
	if ok && e.groupKey.json != nil && ev.Group != nil {
		dst, ok = a.mapField(&o, dst, e.groupKey, ev.Group.Body)
	}
	group = len(a.members) - group
	n, first := mapHeader(ev.Body)
	ok = ok && first > 0
	if ok {
		dst, ok = e.record(&o, dst, ev.Body, first, n, meta|group<<1)
	}
	return a.closeObject(&o, dst), ok
}

// metadata is the event's, with OpenTelemetry's ids as hex. It lives until the
// next call.
func (e *Encoder) metadata(ev *event.Event) []byte {
	meta, changed := event.HexIDs(e.meta[:0], ev.Meta, event.TraceID|event.SpanID)
	if !changed {
		return ev.Meta
	}
	if e.meta = meta; cap(meta) > keepScratch {
		e.meta = nil
	}
	return meta
}

// field begins a member whose key was rendered before.
func (a *Appender) field(o *object, dst []byte, key renderedKey) []byte {
	start := len(dst) + 1
	dst = append(dst, key.json...)
	a.add(o, dst, member{key: start, end: len(dst) - 1, hash: key.hash})
	return dst
}

// mapField adds a member unless the map has no pairs.
func (a *Appender) mapField(o *object, dst []byte, key renderedKey, raw []byte) ([]byte, bool) {
	if n, _ := mapHeader(raw); n == 0 {
		return dst, true
	}
	dst = a.field(o, dst, key)
	return a.value(dst, raw, 0, 0)
}

// mapHeader returns a map's number of pairs and where the first begins, 0 if
// raw is no map.
func mapHeader(raw []byte) (n, first int) {
	switch {
	case len(raw) == 0:
	case raw[0]&0xf0 == 0x80:
		return int(raw[0] & 0x0f), 1
	case raw[0] == 0xde && len(raw) >= 3:
		return int(raw[1])<<8 | int(raw[2]), 3
	case raw[0] == 0xdf && len(raw) >= 5:
		return int(raw[1])<<24 | int(raw[2])<<16 | int(raw[3])<<8 | int(raw[4]), 5
	}
	return 0, 0
}

// tagJSON renders the tag once for all events that share it.
func (e *Encoder) tagJSON(tag string) []byte {
	if e.tag != tag {
		e.tag = tag
		e.tagValue = appendString(e.tagValue[:0], []byte(tag))
	}
	return e.tagValue
}

// keepScratch is how much of its scratch memory an Appender keeps, in entries.
const keepScratch = 16 << 10

// shrink gives memory back that only an unusually large map needed.
func (a *Appender) shrink() {
	if cap(a.members) > keepScratch {
		a.members = nil
	}
	if cap(a.table) > 4*keepScratch {
		a.table = nil
	}
	if cap(a.keyText) > keepScratch {
		a.keyText = nil
	}
}
