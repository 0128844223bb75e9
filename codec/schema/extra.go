package schema

import "encoding/binary"

// Extra gathers what a record's columns can't hold as one msgpack map, nested
// as in the record. The zero value is ready; reuse one, since it keeps its
// memory.
//
// Enter and Leave follow the walk of the record, Add takes a pair of the map
// that the walk is in. A map appears in the result only if something was added
// to it.
type Extra struct {
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

// keepExtra is how much of its memory an Extra keeps, in bytes.
const keepExtra = 256 << 10

// Reset begins a record.
func (x *Extra) Reset() {
	if cap(x.buf) > keepExtra {
		x.buf = nil
	}
	x.buf, x.path, x.open = x.buf[:0], x.path[:0], x.open[:0]
}

// Enter goes into the map under a key, raw msgpack that lives until Leave.
func (x *Extra) Enter(key []byte) { x.path = append(x.path, key) }

// Leave goes back out of it.
func (x *Extra) Leave() {
	if x.begun() {
		x.end()
	}
	x.path = x.path[:len(x.path)-1]
}

// Add copies a pair of raw msgpack values.
func (x *Extra) Add(key, value []byte) {
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
func (x *Extra) begun() bool { return len(x.open) == len(x.path)+1 }

func (x *Extra) end() {
	m := x.open[len(x.open)-1]
	binary.BigEndian.PutUint32(x.buf[m.at+1:m.at+headerSize], m.n)
	x.open = x.open[:len(x.open)-1]
}

// Map returns what was added, nil if nothing was. It lives until the next call.
// The walk is at the record's top.
func (x *Extra) Map() []byte {
	if len(x.open) == 0 {
		return nil
	}
	m := x.open[0]
	binary.BigEndian.PutUint32(x.buf[m.at+1:m.at+headerSize], m.n)
	return x.buf
}
