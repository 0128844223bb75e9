package journal

import "math/bits"

// Ranges is a set of record ordinals of one chunk, run-length coded: for each
// run the gap since the previous one's end and its length, as varints. The
// zero value is empty and ready to use.
type Ranges struct {
	runs  []byte
	open  bool   // a run is being extended
	from  uint32 // the open run is [from, to)
	to    uint32
	end   uint32 // end of the last closed run
	count uint32
}

// Add adds an ordinal, which must be higher than all before.
func (r *Ranges) Add(ordinal uint32) {
	if r.open && ordinal < r.to {
		panic("journal: ordinals must grow")
	}
	r.count++
	if r.open && ordinal == r.to {
		r.to++
		return
	}
	r.close()
	r.open, r.from, r.to = true, ordinal, ordinal+1
}

func (r *Ranges) close() {
	if !r.open {
		return
	}
	r.runs = putUint(putUint(r.runs, uint64(r.from-r.end)), uint64(r.to-r.from))
	r.end, r.open = r.to, false
}

// Count is the number of ordinals in the set.
func (r *Ranges) Count() uint32 { return r.count }

// Bytes is the encoded set. The set must not be added to afterwards.
func (r *Ranges) Bytes() []byte {
	r.close()
	return r.runs
}

// eachRun calls f for each run of an encoded set, and reports whether the set
// is well formed: runs in order, none empty, all below 1<<32.
func eachRun(runs []byte, f func(from, to uint32)) bool {
	r := reader{b: runs}
	at := uint64(0)
	for len(r.b) > 0 {
		from := at + r.uint()
		n := r.uint()
		to := from + n
		if r.err != nil || n == 0 || from < at || to < from || to > 1<<32-1 {
			return false
		}
		f(uint32(from), uint32(to))
		at = to
	}
	return true
}

// Coverage is the set of a chunk's records that are in rolled parts. The zero
// value covers nothing.
type Coverage struct {
	words []uint64
	n     uint32
}

// Has reports whether the record is in a rolled part.
func (c *Coverage) Has(ordinal uint32) bool {
	w := int(ordinal / 64)
	return w < len(c.words) && c.words[w]&(1<<(ordinal%64)) != 0
}

// Count is the number of covered records.
func (c *Coverage) Count() uint32 { return c.n }

func (c *Coverage) clone() Coverage {
	return Coverage{words: append([]uint64(nil), c.words...), n: c.n}
}

func (c *Coverage) addRun(from, to uint32) {
	for need := int((uint64(to) + 63) / 64); len(c.words) < need; {
		c.words = append(c.words, 0)
	}
	for at := from; at < to; {
		w, lo := at/64, at%64
		hi := min(64, lo+(to-at))
		mask := (^uint64(0) << lo) & (^uint64(0) >> (64 - hi))
		c.n += uint32(bits.OnesCount64(mask &^ c.words[w]))
		c.words[w] |= mask
		at += hi - lo
	}
}

// encode appends the set as runs with a length before them.
func (c *Coverage) encode(b []byte) []byte {
	var r Ranges
	for w, word := range c.words {
		for word != 0 {
			i := bits.TrailingZeros64(word)
			r.Add(uint32(w*64 + i))
			word &^= 1 << i
		}
	}
	return putString(b, r.Bytes())
}

// CoverageOf is the set that Ranges.Bytes encoded.
func CoverageOf(runs []byte) Coverage {
	var c Coverage
	eachRun(runs, c.addRun)
	return c
}
