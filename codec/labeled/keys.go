package labeled

import (
	"hash/maphash"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// field is a field of the record at hand.
type field struct {
	key      []byte // its text; of a key that isn't text, its JSON
	value    []byte // raw
	hash     uint64
	replaced bool // its key comes again
}

// keys are the fields of a record, of each key the last. It keeps its memory
// from record to record.
type keys struct {
	fields []field
	seed   maphash.Seed
	last   map[uint64]int32 // the last field of a hash, for records that have many
	values json.Appender
	text   []byte // the keys that aren't text
}

// many is from how many fields on they are looked up in a map instead of one by
// one, so that a record of a million takes no more than linear time.
const many = 48

// read takes the fields of the record. They alias it.
func (k *keys) read(body []byte) (reason string) {
	if k.seed == (maphash.Seed{}) {
		k.seed = maphash.MakeSeed()
	}
	if cap(k.fields) > 1<<12 {
		k.fields, k.last, k.text = nil, nil, nil
	}
	clear(k.last)
	k.fields, k.text = k.fields[:0], k.text[:0]
	f := event.FieldsOf(body)
	n := f.Left()
	for f.Next() {
		n--
		key, ok := event.Text(f.Key)
		if !ok {
			start := len(k.text)
			var err error
			if k.text, err = k.values.AppendValue(k.text, f.Key); err != nil {
				return noEnd
			}
			key = k.text[start:len(k.text):len(k.text)]
		}
		k.add(field{key: key, value: f.Value, hash: maphash.Bytes(k.seed, key)})
	}
	if n > 0 {
		return noEnd
	}
	return ""
}

func (k *keys) add(f field) {
	at := int32(len(k.fields))
	switch {
	case at < many:
		for i := range k.fields {
			k.replace(f, int32(i))
		}
	case at == many:
		if k.last == nil {
			k.last = map[uint64]int32{}
		}
		for i := range k.fields {
			k.last[k.fields[i].hash] = int32(i)
		}
	}
	if at >= many {
		if i, ok := k.last[f.hash]; ok {
			k.replace(f, i)
		}
		k.last[f.hash] = at
	}
	k.fields = append(k.fields, f)
}

// replace marks field i if it has f's key.
func (k *keys) replace(f field, i int32) {
	if other := &k.fields[i]; other.hash == f.hash && string(other.key) == string(f.key) {
		other.replaced = true
	}
}

// has reports whether the record has the key.
func (k *keys) has(key string) bool {
	for i := range k.fields {
		if string(k.fields[i].key) == key {
			return true
		}
	}
	return false
}
