package parquet

import (
	"encoding/binary"
	"hash/maphash"
)

const (
	// mostEntries keeps an index in two bytes.
	mostEntries = 1 << 16
	// mostBytes is how large a dictionary grows, as in parquet-mr.
	mostBytes = 1 << 20
	// probeAfter is after how many values it shows whether a column repeats
	// itself enough for a dictionary.
	probeAfter = 1024
)

// dictionary holds a column's distinct values in the order in which they came,
// in Parquet's plain encoding, which is also how they are compared. Its hash is
// seeded, so nobody can send values that all collide.
type dictionary struct {
	seed  maphash.Seed
	fixed int      // bytes of every entry; 0 if each has its length before it
	bytes []byte   // the entries
	ends  []uint32 // where each ends in bytes
	slots []uint32 // index of an entry plus 1, 0 for none
	last  int      // the entry that was asked for last
}

// entry is the i-th value, without its length.
func (d *dictionary) entry(i int) []byte {
	begin := uint32(0)
	if i > 0 {
		begin = d.ends[i-1]
	}
	if d.fixed == 0 {
		begin += 4
	}
	return d.bytes[begin:d.ends[i]]
}

func (d *dictionary) len() int { return len(d.ends) }

// text returns the index of the value, adding it if it is new.
func (d *dictionary) text(v []byte) uint16 {
	if len(d.ends) > 0 && string(d.entry(d.last)) == string(v) {
		return uint16(d.last)
	}
	h := maphash.Bytes(d.seed, v)
	at, found := d.find(h, v)
	if !found {
		if d.fixed == 0 {
			d.bytes = binary.LittleEndian.AppendUint32(d.bytes, uint32(len(v)))
		}
		d.bytes = append(d.bytes, v...)
		d.add(at, h)
		return uint16(d.last)
	}
	return uint16(d.last)
}

// find looks for v, which it makes the last if it is there. Otherwise at is the
// slot for it.
func (d *dictionary) find(h uint64, v []byte) (at int, found bool) {
	if len(d.slots) == 0 {
		d.grow(64)
	}
	mask := len(d.slots) - 1
	for at = int(h) & mask; d.slots[at] != 0; at = (at + 1) & mask {
		if i := int(d.slots[at] - 1); string(d.entry(i)) == string(v) {
			d.last = i
			return at, true
		}
	}
	return at, false
}

// add makes what was appended to bytes the next entry.
func (d *dictionary) add(at int, h uint64) {
	d.last = len(d.ends)
	d.ends = append(d.ends, uint32(len(d.bytes)))
	d.slots[at] = uint32(len(d.ends))
	if 2*len(d.ends) > len(d.slots) {
		d.grow(4 * len(d.slots))
	}
}

// grow makes the table larger: at most half of it is in use.
func (d *dictionary) grow(size int) {
	d.slots = make([]uint32, size)
	for i := range d.ends {
		at := int(maphash.Bytes(d.seed, d.entry(i))) & (size - 1)
		for d.slots[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		d.slots[at] = uint32(i + 1)
	}
}

// full reports whether no further batch of values is sure to fit.
func (d *dictionary) full(batch int) bool {
	return len(d.ends)+batch >= mostEntries || len(d.bytes) > mostBytes
}

// reset empties the dictionary; release also gives its memory back.
func (d *dictionary) reset() {
	clear(d.slots)
	d.bytes, d.ends, d.last = d.bytes[:0], d.ends[:0], 0
}

func (d *dictionary) release() { d.bytes, d.ends, d.slots, d.last = nil, nil, nil, 0 }

// memory is what the dictionary holds, in bytes.
func (d *dictionary) memory() int64 {
	return int64(cap(d.bytes)) + 4*int64(cap(d.ends)+cap(d.slots))
}
