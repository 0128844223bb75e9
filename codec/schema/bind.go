package schema

import (
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// Binder finds the fields of records, nested ones too. It gathers in Extra the
// pairs of which no field is known. The zero value has no rules of its own:
// set Keep and Refuse. One goroutine uses it at a time.
type Binder struct {
	Extra Extra
	// Keep gathers unknown pairs in Extra; otherwise they are left out.
	Keep bool
	// Refuse makes Bind fail at an unknown pair.
	Refuse bool
	// Inside is more than 0 while the walk is in an array, map or union, where
	// Extra has no path to. Unknown pairs then only set Missed.
	Inside int
	Missed bool

	slots   [][]byte // the values of all records that are bound, innermost last
	json    json.Appender
	keyText []byte
}

// Reset begins a record.
func (b *Binder) Reset() {
	b.Extra.Reset()
	b.Inside, b.Missed = 0, false
	b.slots = b.slots[:0]
}

// Forget drops every reference to the records that were bound.
func (b *Binder) Forget() {
	b.Extra.path = b.Extra.path[:0]
	clear(b.Extra.path[:cap(b.Extra.path)])
	clear(b.slots[:cap(b.slots)])
	b.slots = b.slots[:0]
}

// Bind sorts the pairs of the map raw into r's fields. Value then answers with
// what it found, until Release, which undoes the last Bind. Of a key that comes
// twice the last counts.
//
// unknown is a key that no field has, if Refuse is set. ok is false for it, and
// with unknown nil if raw is no map or cut short; nothing is bound then.
func (b *Binder) Bind(r *Record, raw []byte) (base int, unknown []byte, ok bool) {
	if event.KindOf(raw) != event.KindMap {
		return 0, nil, false
	}
	base = b.reserve(len(r.Fields))
	f := event.FieldsOf(raw)
	left := f.Left()
	for f.Next() {
		left--
		i := -1
		if key, text := event.Text(f.Key); text {
			i = r.table.find(key)
		}
		if i < 0 {
			i = b.findOdd(r, f.Key)
		}
		if i >= 0 {
			b.slots[base+i] = f.Value
			continue
		}
		if b.Refuse {
			b.Release(base)
			return 0, f.Key, false
		}
		b.unknown(f.Key, f.Value)
	}
	if left > 0 {
		b.Release(base)
		return 0, nil, false
	}
	return base, nil, true
}

// unknown sees to a pair that no field takes. Null is the same as absent, but
// for a key that came before with a value.
func (b *Binder) unknown(key, value []byte) {
	switch {
	case !b.Keep || value[0] == 0xc0 && (b.Inside > 0 || !b.Extra.begun()):
	case b.Inside > 0:
		b.Missed = true
	default:
		b.Extra.Add(key, value)
	}
}

// findOdd finds a field by a key that is no valid UTF-8, or no text at all: it
// counts as what it is in JSON.
func (b *Binder) findOdd(r *Record, raw []byte) int {
	key, text := event.Text(raw)
	if text && utf8.Valid(key) {
		return -1
	}
	b.keyText = appendKeyText(b.keyText[:0], raw, &b.json)
	return r.table.find(b.keyText)
}

// appendKeyText appends a key as the text it is in JSON, and nothing for one
// that JSON can't hold.
func appendKeyText(dst, raw []byte, a *json.Appender) []byte {
	if key, ok := event.Text(raw); ok {
		return event.AppendValidUTF8(dst, key)
	}
	out, err := a.AppendValue(dst, raw)
	if err != nil {
		return dst
	}
	return out
}

func (b *Binder) reserve(n int) (base int) {
	base = len(b.slots)
	if base+n > cap(b.slots) {
		b.slots = append(make([][]byte, 0, 2*(base+n)), b.slots...)
	}
	b.slots = b.slots[:base+n]
	clear(b.slots[base:])
	return base
}

// Value is what Bind found for the i-th field, nil if nothing.
func (b *Binder) Value(base, i int) []byte { return b.slots[base+i] }

// Put gives the i-th field a value of the caller's.
func (b *Binder) Put(base, i int, raw []byte) { b.slots[base+i] = raw }

// Release ends the use of what Bind found.
func (b *Binder) Release(base int) { b.slots = b.slots[:base] }
