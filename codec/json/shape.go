package json

import (
	"bytes"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// shapes remembers which keys the last few kinds of records had, in their order.
// Records of one source mostly have the same keys, and a key that comes where it
// came before is copied with its quotes; it need not be looked at, and can't be a
// key that this record already had. The first key that differs ends that for the
// record, and it goes on key by key.
//
// Where records differ each time, remembering is given up for a while.
type shapes struct {
	hits
	kept [4]shape
	next int // of kept, the one to be replaced
}

// shape is the keys of a record, each of them once.
type shape struct {
	before int // which members stood before the record's own
	keys   []shapeKey
}

type shapeKey struct {
	raw  []byte // msgpack
	json []byte // as appendKey writes it
	hash uint32
}

// maxShape is how many keys a remembered record has at most: with those before
// them no table is needed.
const maxShape = manyMembers / 2

// record renders the record's n pairs from b[i] on, as Appender.pairs does.
// before says which members o has already.
func (e *Encoder) record(o *object, dst, b []byte, i, n, before int) (_ []byte, ok bool) {
	a, first, left := &e.appender, i, n
	if s := e.shapes.find(b[i:], n, before); s != nil {
		for k := range s.keys {
			key := &s.keys[k]
			if !bytes.HasPrefix(b[i:], key.raw) {
				break
			}
			start := len(dst) + 1
			dst = append(dst, key.json...)
			o.filter[key.hash>>30] |= 1 << (key.hash >> 24 & 63)
			a.members = append(a.members, member{key: start, end: len(dst) - 1, hash: key.hash})
			if dst, ok = a.value(dst, b, i+len(key.raw), 1); !ok {
				return dst, false
			}
			i = a.last
			left--
		}
		if left == 0 {
			e.shapes.misses = 0
			return dst, true
		}
	}
	if dst, ok = a.pairs(o, dst, b, i, left, 0); !ok {
		return dst, false
	}
	if e.shapes.worth(n) && !o.replaced && o.table < 0 {
		e.shapes.keep(b, first, dst, a.members[len(a.members)-n:], before)
	}
	return dst, true
}

// find is the remembered shape whose first key b begins with, nil if there is
// none.
func (s *shapes) find(b []byte, n, before int) *shape {
	if s.paused > 0 || n == 0 {
		return nil
	}
	for k := range s.kept {
		if p := &s.kept[k]; len(p.keys) == n && p.before == before && bytes.HasPrefix(b, p.keys[0].raw) {
			return p
		}
	}
	return nil
}

// worth reports whether a record that had no shape should be remembered.
func (s *shapes) worth(n int) bool {
	return !s.skip() && n > 0 && n <= maxShape && s.miss()
}

// keep remembers a record's members, none of which was replaced, and whose pairs lie
// in b from i on.
func (s *shapes) keep(b []byte, i int, dst []byte, members []member, before int) {
	p := &s.kept[s.next]
	s.next = (s.next + 1) % len(s.kept)
	p.before = before
	for len(p.keys) < len(members) {
		p.keys = append(p.keys, shapeKey{})
	}
	p.keys = p.keys[:len(members)]
	for k, m := range members {
		key, _ := event.Span(b[i:])
		value, _ := event.Span(b[i+key:])
		to := &p.keys[k]
		to.raw, to.json = append(to.raw[:0], b[i:i+key]...), append(to.json[:0], dst[m.key-1:m.end+1]...)
		to.hash = m.hash
		i += key + value
	}
}
