package json

import (
	"hash/maphash"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// member is one pair of an object that is being written, by its place in the
// output.
type member struct {
	key      int // where the key's opening quote is
	end      int // behind the key's closing quote
	hash     uint32
	replaced bool // the same key came again
}

// object is an open object: its members so far are a.members[base:].
//
// That a key comes twice is found without looking ahead and without a search
// for each key: a filter of 256 bits tells apart nearly all keys of usual
// maps, and only a key whose bit is taken is compared with those before it.
type object struct {
	base     int
	start    int // where its opening brace goes
	filter   [4]uint64
	table    int // where this object's part of a.table begins, -1 for none yet
	replaced bool
}

// manyMembers is from how many on keys are looked up in a table instead of one
// by one, so that a map of a million keys takes no more than linear time.
const manyMembers = 64

func (a *Appender) object(dst, b []byte, i, n, depth int) ([]byte, bool) {
	if depth >= event.MaxDepth {
		return dst, false
	}
	o := object{base: len(a.members), start: len(dst), table: -1}
	dst, ok := a.pairs(&o, dst, b, i, n, depth)
	return a.closeObject(&o, dst), ok
}

// pairs renders n pairs from b[i] on as further members of o, each with a comma
// before it; closeObject makes the first a brace.
func (a *Appender) pairs(o *object, dst, b []byte, i, n, depth int) (_ []byte, ok bool) {
	for ; n > 0; n-- {
		start := len(dst) + 1
		var hash uint32
		if i < len(b) && b[i]&0xe0 == 0xa0 {
			end := i + 1 + int(b[i]&0x1f)
			if end > len(b) {
				return dst, false
			}
			dst, hash = appendKey(dst, b[i+1:end])
			i = end
		} else if dst, hash, i, ok = a.key(dst, b, i, depth); !ok {
			return dst, false
		}
		a.add(o, dst, member{key: start, end: len(dst) - 1, hash: hash})
		if dst, ok = a.value(dst, b, i, depth+1); !ok {
			return dst, false
		}
		i = a.last
	}
	a.last = i
	return dst, true
}

// key renders a key that isn't a short string, at b[i], and returns the index
// behind it.
func (a *Appender) key(dst, b []byte, i, depth int) (_ []byte, hash uint32, next int, ok bool) {
	if i >= len(b) {
		return dst, 0, i, false
	}
	if s, ok := event.Text(b[i:]); ok {
		n, _ := event.Span(b[i:])
		dst, hash = appendKey(dst, s)
		return dst, hash, i + n, true
	}
	// A key within this key takes its scratch memory anew.
	text := a.keyText[:0]
	a.keyText = nil
	text, ok = a.value(text, b, i, depth+1)
	if ok {
		dst, hash = appendKey(dst, text)
	}
	a.keyText = text
	return dst, hash, a.last, ok
}

// add records a member whose key has just been written to the end of dst.
func (a *Appender) add(o *object, dst []byte, m member) {
	if o.table >= 0 {
		a.addToTable(o, dst, m)
		return
	}
	word, bit := m.hash>>30, uint64(1)<<(m.hash>>24&63)
	if o.filter[word]&bit != 0 {
		a.replace(o, dst, m)
	}
	o.filter[word] |= bit
	a.members = append(a.members, m)
	if len(a.members)-o.base == manyMembers {
		a.rebuild(o, dst, 4*manyMembers)
	}
}

// replace marks the earlier member that has m's key, if there is one.
func (a *Appender) replace(o *object, dst []byte, m member) {
	key := dst[m.key:m.end]
	for k := o.base; k < len(a.members); k++ {
		p := &a.members[k]
		if p.hash == m.hash && !p.replaced && string(dst[p.key:p.end]) == string(key) {
			p.replaced, o.replaced = true, true
			return
		}
	}
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
	a.table = slices.Grow(a.table[:o.table], size)[:o.table+size]
	slots := a.table[o.table:]
	clear(slots)
	for k := o.base; k < len(a.members); k++ {
		m := &a.members[k]
		if m.replaced {
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
			p.replaced, o.replaced = true, true
			break
		}
	}
	slots[at] = int32(len(a.members) - o.base + 1)
	a.members = append(a.members, m)
}

// closeObject ends o, whose members are the end of dst, and gives its scratch
// memory back. Members that were replaced are removed in one pass.
func (a *Appender) closeObject(o *object, dst []byte) []byte {
	members := a.members[o.base:]
	if o.replaced {
		to := o.start
		for k, m := range members {
			if m.replaced {
				continue
			}
			end := len(dst)
			if k+1 < len(members) {
				end = members[k+1].key - 1
			}
			to += copy(dst[to:], dst[m.key-1:end]) // with its comma
		}
		dst = dst[:to]
	}
	a.members = a.members[:o.base]
	if o.table >= 0 {
		a.table = a.table[:o.table]
	}
	if len(dst) == o.start {
		return append(dst, '{', '}')
	}
	dst[o.start] = '{'
	return append(dst, '}')
}
