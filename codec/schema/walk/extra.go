package walk

import "encoding/binary"

// extra gathers what a record's columns can't hold as one msgpack map, nested
// as in the record. The zero value is ready; reuse one, since it keeps its
// memory.
//
// enter and leave follow the walk of the record, add takes a pair of the map
// that the walk is in. A map appears in the result only if something was added
// to it.
type extra struct {
	buf  []byte
	path [][]byte  // raw keys that lead to where the walk is
	open []openMap // the maps begun in buf, the outermost first
}

type openMap struct {
	at int // of its header
	n  uint32
}

// headerSize is that of a map whose number of pairs is filled in at its end.
const headerSize = 5

// keepExtra is how much of its memory an extra keeps, in bytes.
const keepExtra = 256 << 10

// reset begins a record.
func (x *extra) reset() {
	if cap(x.buf) > keepExtra {
		x.buf = nil
	}
	x.buf, x.path, x.open = x.buf[:0], x.path[:0], x.open[:0]
}

// enter goes into the map under a key, raw msgpack that lives until leave.
func (x *extra) enter(key []byte) { x.path = append(x.path, key) }

// leave goes back out of it.
func (x *extra) leave() {
	if x.begun() {
		x.end()
	}
	x.path = x.path[:len(x.path)-1]
}

// add copies a pair of raw msgpack values.
func (x *extra) add(key, value []byte) {
	for len(x.open) <= len(x.path) {
		if depth := len(x.open); depth > 0 {
			x.open[depth-1].n++
			x.buf = append(x.buf, x.path[depth-1]...)
		}
		x.open = append(x.open, openMap{at: len(x.buf)})
		x.buf = append(x.buf, 0xdf, 0, 0, 0, 0)
	}
	x.open[len(x.open)-1].n++
	x.buf = append(x.buf, key...)
	x.buf = append(x.buf, value...)
}

// begun reports whether something was added to the map that the walk is in.
func (x *extra) begun() bool { return len(x.open) == len(x.path)+1 }

func (x *extra) end() {
	m := x.open[len(x.open)-1]
	binary.BigEndian.PutUint32(x.buf[m.at+1:m.at+headerSize], m.n)
	x.open = x.open[:len(x.open)-1]
}

// all returns what was added, nil if nothing was. It lives until the next call.
// The walk is at the record's top.
func (x *extra) all() []byte {
	if len(x.open) == 0 {
		return nil
	}
	m := x.open[0]
	binary.BigEndian.PutUint32(x.buf[m.at+1:m.at+headerSize], m.n)
	return x.buf
}
