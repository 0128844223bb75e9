package json

import "bytes"

// repeats remembers how the last few nested maps were rendered. Records of one
// source carry the same metadata again and again, such as the kubernetes map of
// a container: then comparing its bytes and copying its text is all there is to
// do. Msgpack says itself where a value ends, so a map whose bytes begin with a
// remembered map's is that map.
//
// Where nothing repeats, remembering is given up for a while, so that it costs
// next to nothing.
type repeats struct {
	hits
	kept [4]repeat
	next int // of kept, the one to be replaced
}

type repeat struct {
	raw   []byte
	text  []byte
	depth int // at another depth the nesting may be too deep
}

const (
	minRepeat = 48   // bytes of a map that are worth it
	maxRepeat = 4096 // and of one that is kept
)

// find appends the text of the map that b begins with, if it is remembered, and
// returns the length of the map, or 0.
func (r *repeats) find(dst, b []byte, depth int) ([]byte, int) {
	if r.paused > 0 {
		return dst, 0
	}
	for k := range r.kept {
		p := &r.kept[k]
		if len(p.raw) > 0 && p.depth == depth && bytes.HasPrefix(b, p.raw) {
			r.misses = 0
			return append(dst, p.text...), len(p.raw)
		}
	}
	return dst, 0
}

// keep remembers how a map was rendered that find didn't know.
func (r *repeats) keep(raw, text []byte, depth int) {
	if r.skip() || len(raw) < minRepeat || len(raw) > maxRepeat || !r.miss() {
		return
	}
	p := &r.kept[r.next]
	r.next = (r.next + 1) % len(r.kept)
	p.raw, p.text, p.depth = append(p.raw[:0], raw...), append(p.text[:0], text...), depth
}
