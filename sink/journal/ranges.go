package journal

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

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
	if ordinal < r.to {
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
// is well formed: runs in order, none empty, all below limit.
func eachRun(runs []byte, limit uint32, f func(from, to uint32)) bool {
	r := reader{b: runs}
	at := uint64(0)
	for len(r.b) > 0 {
		from := at + uint64(r.uint32())
		n := uint64(r.uint32())
		to := from + n
		if r.err != nil || n == 0 || to > uint64(limit) {
			return false
		}
		f(uint32(from), uint32(to))
		at = to
	}
	return r.err == nil
}

// Coverage is the set of a chunk's records that are in rolled parts. The zero
// value covers nothing.
type Coverage struct {
	words []uint64
	n     uint32
}

// CoverageOf is the set that Ranges.Bytes encoded, up to the first run that is
// malformed.
func CoverageOf(runs []byte) Coverage {
	var c Coverage
	eachRun(runs, math.MaxUint32, c.addRun)
	return c
}

// Has reports whether the record is in a rolled part.
func (c *Coverage) Has(ordinal uint32) bool {
	w := int(ordinal / 64)
	return w < len(c.words) && c.words[w]&(1<<(ordinal%64)) != 0
}

// Count is the number of covered records.
func (c *Coverage) Count() uint32 { return c.n }

func (c *Coverage) clone() Coverage {
	return Coverage{words: slices.Clone(c.words), n: c.n}
}

// add adds an encoded set of ordinals below limit, all of it or, if it is
// malformed, nothing.
func (c *Coverage) add(runs []byte, limit uint32) bool {
	if !eachRun(runs, limit, func(uint32, uint32) {}) {
		return false
	}
	return eachRun(runs, limit, c.addRun)
}

func (c *Coverage) addRun(from, to uint32) {
	if need := int((uint64(to) + 63) / 64); len(c.words) < need {
		c.words = append(c.words, make([]uint64, need-len(c.words))...)
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

// encode appends the set as a bitmap, the lowest ordinal first, with its
// length before it. Unlike runs a bitmap takes an eighth of a byte for each
// record at most, and decoding it allocates no more than it reads.
func (c *Coverage) encode(b []byte) []byte {
	words := c.words
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return putUint(b, 0)
	}
	last := words[len(words)-1]
	n := 8*len(words) - bits.LeadingZeros64(last)/8
	b = putUint(b, uint64(n))
	at := len(b)
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b[:at+n]
}

// coverage decodes what Coverage.encode encoded.
func (r *reader) coverage() (c Coverage) {
	bitmap := r.bytes()
	if n := len(bitmap); n > 0 && bitmap[n-1] == 0 {
		r.fail()
		return Coverage{}
	}
	if len(bitmap) > 0 {
		c.words = make([]uint64, (len(bitmap)+7)/8)
	}
	for i, b := range bitmap {
		c.words[i/8] |= uint64(b) << (i % 8 * 8)
		c.n += uint32(bits.OnesCount8(b))
	}
	return c
}
