package walk

import (
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// binder finds the fields of records, nested ones too. It gathers in extra the
// pairs of which no field is known. The zero value has no rules of its own:
// set keep and refuse.
type binder struct {
	extra extra
	// keep gathers unknown pairs in extra; otherwise they are left out.
	keep bool
	// refuse makes bind fail at an unknown pair.
	refuse bool
	// inside is more than 0 while the walk is in an array, map or union, to which
	// extra has no path. What has no column there only sets missed, and the whole
	// value of the field goes to extra when the walk is out of it.
	inside int
	missed bool

	slots   [][]byte // the values of all records that are bound, innermost last
	json    json.Appender
	keyText []byte
}

// reset begins a record.
func (b *binder) reset() {
	b.extra.reset()
	b.inside, b.missed = 0, false
	b.slots = b.slots[:0]
}

// forget drops every reference to the records that were bound.
func (b *binder) forget() {
	b.extra.path = b.extra.path[:0]
	clear(b.extra.path[:cap(b.extra.path)])
	clear(b.slots[:cap(b.slots)])
	b.slots = b.slots[:0]
}

// bind sorts the pairs of the map raw into r's fields: value returns what it
// found, until release, which undoes the last bind. Of a key that comes twice
// the last counts.
//
// If refuse is set and no field has a key, ok is false and unknown is that key.
// If raw is no map or is cut short, ok is false and unknown nil. Nothing is
// bound then.
func (b *binder) bind(r *schema.Record, raw []byte) (base int, unknown []byte, ok bool) {
	if event.KindOf(raw) != event.KindMap {
		return 0, nil, false
	}
	base = b.reserve(len(r.Fields))
	f := event.FieldsOf(raw)
	left := f.Left()
	next := 0 // the field that comes next if the record has the schema's order
	for f.Next() {
		left--
		i := next
		if i >= len(r.Fields) || !r.Fields[i].BoundTo(f.Key) {
			i = b.find(r, f.Key)
		}
		if i >= 0 {
			b.slots[base+i] = f.Value
			next = i + 1
			continue
		}
		if b.refuse {
			b.release(base)
			return 0, f.Key, false
		}
		b.unknown(f.Key, f.Value)
	}
	if left > 0 {
		b.release(base)
		return 0, nil, false
	}
	return base, nil, true
}

// unknown keeps a pair that no field takes. Null is the same as absent, but for
// a key that came before with a value.
func (b *binder) unknown(key, value []byte) {
	switch {
	case !b.keep || value[0] == 0xc0 && (b.inside > 0 || !b.extra.begun()):
	case b.inside > 0:
		b.missed = true
	default:
		b.extra.add(key, value)
	}
}

// find finds a field by a key. One that is no valid UTF-8, or no text at all,
// counts as what it is in JSON.
func (b *binder) find(r *schema.Record, raw []byte) int {
	key, text := event.Text(raw)
	if text {
		if i := r.Find(key); i >= 0 || utf8.Valid(key) {
			return i
		}
	}
	b.keyText = schema.AppendKey(b.keyText[:0], raw, &b.json)
	return r.Find(b.keyText)
}

func (b *binder) reserve(n int) (base int) {
	base = len(b.slots)
	if base+n > cap(b.slots) {
		b.slots = append(make([][]byte, 0, 2*(base+n)), b.slots...)
	}
	b.slots = b.slots[:base+n]
	clear(b.slots[base:])
	return base
}

// value is what bind found for the i-th field, nil if nothing.
func (b *binder) value(base, i int) []byte { return b.slots[base+i] }

// put gives the i-th field a value from outside the record.
func (b *binder) put(base, i int, raw []byte) { b.slots[base+i] = raw }

// release ends the use of what bind found.
func (b *binder) release(base int) { b.slots = b.slots[:base] }
