package schema

import (
	"hash/maphash"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// keyTable finds a record's field by its key. It is built once and then only
// read: open addressing, at most half full. Its hash is seeded, so nobody can
// send keys that all collide.
type keyTable struct {
	seed  maphash.Seed
	slots []int32 // index of a field plus 1, 0 for none
	keys  []string
}

func (t *keyTable) build(fields []*Field) {
	size := 4
	for size < 2*len(fields) {
		size *= 2
	}
	t.seed = maphash.MakeSeed()
	t.slots = make([]int32, size)
	t.keys = make([]string, len(fields))
	for i, f := range fields {
		if !f.Bound {
			continue
		}
		t.keys[i] = f.Key
		at := int(maphash.String(t.seed, f.Key)) & (size - 1)
		for t.slots[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		t.slots[at] = int32(i + 1)
	}
}

// find returns the index of the field with the key, -1 if there is none.
func (t *keyTable) find(key []byte) int {
	mask := len(t.slots) - 1
	for at := int(maphash.Bytes(t.seed, key)) & mask; ; at = (at + 1) & mask {
		i := int(t.slots[at]) - 1
		if i < 0 || t.keys[i] == string(key) {
			return i
		}
	}
}

// Find returns the index of the field that is bound to the key, -1 if there is
// none.
func (r *Record) Find(key []byte) int { return r.table.find(key) }

// AppendKey appends a record's key, raw msgpack, as the text by which a field is
// found: what it is in JSON, and nothing for one that JSON can't hold.
func AppendKey(dst, raw []byte, a *json.Appender) []byte {
	if key, ok := event.Text(raw); ok {
		return event.AppendValidUTF8(dst, key)
	}
	out, err := a.AppendValue(dst, raw)
	if err != nil {
		return dst
	}
	return out
}
