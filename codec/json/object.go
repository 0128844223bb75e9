package json

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// member is one pair of an object that is being written, by its place in the
// output.
type member struct {
	key  int // where the key's opening quote is
	end  int // behind the key's closing quote
	hash uint32
	dead bool // the same key came again
}

// object is an open object: its members so far are a.members[base:].
//
// That a key comes twice is found without looking ahead and without a search
// for each key: a filter of 256 bits tells apart nearly all keys of usual
// maps, and only a key whose bit is taken is compared with those before it.
type object struct {
	base   int
	filter [4]uint64
	table  int // where this object's part of a.table begins, -1 for none yet
	dead   bool
}

// manyMembers is from how many on keys are looked up in a table instead of one
// by one, so that a map of a million keys takes no more than linear time.
const manyMembers = 64

func (a *Appender) object(dst, b []byte, i, n, depth int) ([]byte, bool) {
	if depth >= event.MaxDepth {
		return dst, false
	}
	o := object{base: len(a.members), table: -1}
	dst = append(dst, '{')
	dst, ok := a.pairs(&o, dst, b, i, n, depth)
	dst = a.closeObject(&o, dst)
	return append(dst, '}'), ok
}

// pairs renders n pairs from b[i] on as further members of o.
func (a *Appender) pairs(o *object, dst, b []byte, i, n, depth int) (_ []byte, ok bool) {
	for ; n > 0; n-- {
		if len(a.members) > o.base {
			dst = append(dst, ',')
		}
		start := len(dst)
		if dst, i, ok = a.key(dst, b, i, depth); !ok {
			return dst, false
		}
		a.add(o, dst, start)
		dst = append(dst, ':')
		if dst, ok = a.value(dst, b, i, depth+1); !ok {
			return dst, false
		}
		i = a.last
	}
	a.last = i
	return dst, true
}

// key renders the key at b[i] and returns the index behind it.
func (a *Appender) key(dst, b []byte, i, depth int) (_ []byte, next int, ok bool) {
	if i < len(b) && b[i]&0xe0 == 0xa0 {
		next = i + 1 + int(b[i]&0x1f)
		if next > len(b) {
			return dst, i, false
		}
		return appendString(dst, b[i+1:next]), next, true
	}
	if i >= len(b) {
		return dst, i, false
	}
	if s, ok := event.Text(b[i:]); ok {
		n, _ := event.Span(b[i:])
		return appendString(dst, s), i + n, true
	}
	// A key within this key takes its scratch memory anew.
	text := a.keyText[:0]
	a.keyText = nil
	text, ok = a.value(text, b, i, depth+1)
	if ok {
		dst, next = appendString(dst, text), a.last
	}
	a.keyText = text
	return dst, next, ok
}

// add records the member whose key is dst[start:].
func (a *Appender) add(o *object, dst []byte, start int) {
	m := member{key: start, end: len(dst)}
	key := dst[start:]
	if o.table >= 0 {
		a.addToTable(o, dst, m)
		return
	}
	m.hash = quickHash(key)
	word, bit := m.hash>>30, uint64(1)<<(m.hash>>24&63)
	if o.filter[word]&bit != 0 {
		a.bury(o, dst, key, m.hash)
	}
	o.filter[word] |= bit
	a.members = append(a.members, m)
	if len(a.members)-o.base == manyMembers {
		a.rebuild(o, dst, 4*manyMembers)
	}
}

// bury marks the member before with the same key as dead.
func (a *Appender) bury(o *object, dst, key []byte, hash uint32) {
	for k := o.base; k < len(a.members); k++ {
		m := &a.members[k]
		if m.hash == hash && !m.dead && string(dst[m.key:m.end]) == string(key) {
			m.dead, o.dead = true, true
			return
		}
	}
}

// quickHash mixes length and the first and last eight bytes of a rendered key,
// which holds two quotes at least.
func quickHash(key []byte) uint32 {
	var x uint64
	switch n := len(key); {
	case n >= 8:
		x = binary.LittleEndian.Uint64(key) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(key[n-8:]), 23)
	case n >= 4:
		x = uint64(binary.LittleEndian.Uint32(key)) | uint64(binary.LittleEndian.Uint32(key[n-4:]))<<32
	default:
		x = uint64(key[n>>1])
	}
	x = (x ^ uint64(len(key))) * 0x9e3779b97f4a7c15
	return uint32(x>>32) ^ uint32(x)>>7
}

// rebuild gives o a hash table of the given size, a power of two, in the part
// of a.table from o.table on. Objects within o have returned theirs, so o's is
// always the last. Slots hold indexes into a.members, less o.base, plus 1.
//
// The table's hash is seeded: nobody can send keys that all collide.
func (a *Appender) rebuild(o *object, dst []byte, size int) {
	if a.seed == (maphash.Seed{}) {
		a.seed = maphash.MakeSeed()
	}
	if o.table < 0 {
		o.table = len(a.table)
	}
	a.table = append(a.table[:o.table], make([]int32, size)...)
	slots := a.table[o.table:]
	for k := o.base; k < len(a.members); k++ {
		m := &a.members[k]
		if m.dead {
			continue
		}
		m.hash = uint32(maphash.Bytes(a.seed, dst[m.key:m.end]))
		at := int(m.hash) & (size - 1)
		for slots[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		slots[at] = int32(k - o.base + 1)
	}
}

func (a *Appender) addToTable(o *object, dst []byte, m member) {
	if 2*(len(a.members)-o.base) > len(a.table)-o.table {
		a.rebuild(o, dst, 4*(len(a.table)-o.table))
	}
	key := dst[m.key:m.end]
	m.hash = uint32(maphash.Bytes(a.seed, key))
	slots := a.table[o.table:]
	at := int(m.hash) & (len(slots) - 1)
	for ; slots[at] != 0; at = (at + 1) & (len(slots) - 1) {
		p := &a.members[o.base+int(slots[at])-1]
		if p.hash == m.hash && string(dst[p.key:p.end]) == string(key) {
			p.dead, o.dead = true, true
			break
		}
	}
	slots[at] = int32(len(a.members) - o.base + 1)
	a.members = append(a.members, m)
}

// closeObject removes the dead members from the end of dst, in one pass, and
// gives o's scratch memory back.
func (a *Appender) closeObject(o *object, dst []byte) []byte {
	members := a.members[o.base:]
	if o.dead {
		to := members[0].key
		first := to
		for k, m := range members {
			if m.dead {
				continue
			}
			end := len(dst)
			if k+1 < len(members) {
				end = members[k+1].key - 1 // without the comma
			}
			if to > first {
				dst[to] = ','
				to++
			}
			to += copy(dst[to:], dst[m.key:end])
		}
		dst = dst[:to]
	}
	a.members = a.members[:o.base]
	if o.table >= 0 {
		a.table = a.table[:o.table]
	}
	return dst
}
