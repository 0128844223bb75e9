package journal

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// NextPart takes the next part number.
func (j *Journal) NextPart() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.st.nextPart++
	return j.st.nextPart - 1
}

// NextNumber is the part number that NextPart would take.
func (j *Journal) NextNumber() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.st.nextPart
}

// WriterID is the instance's name.
func (j *Journal) WriterID() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.st.writerID
}

// Live describes a chunk of which some records aren't in rolled parts.
type Live struct {
	Seq     uint64
	Length  int64 // of the frame
	Arrival time.Time
	// Deaths is how many processes in a row died while decoding it.
	Deaths int
	// DeadLetter is true if an operator sent it undecoded to the dead letters.
	DeadLetter bool
}

// Chunks describes the live chunks by sequence.
func (j *Journal) Chunks() []Live {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Live, 0, len(j.st.chunks))
	for seq, c := range j.st.chunks {
		out = append(out, c.describe(seq))
	}
	slices.SortFunc(out, func(a, b Live) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

func (c *chunk) describe(seq uint64) Live {
	return Live{Seq: seq, Length: int64(c.loc.length), Arrival: c.arrival, Deaths: int(c.deaths), DeadLetter: c.asLetter}
}

// Chunk describes one live chunk, and false if it isn't live.
func (j *Journal) Chunk(seq uint64) (Live, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.st.chunks[seq]
	if c == nil {
		return Live{}, false
	}
	return c.describe(seq), true
}

// Covered is which records of a chunk are in rolled parts now.
func (j *Journal) Covered(seq uint64) Coverage {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.st.chunks[seq]; c != nil {
		return c.covered.clone()
	}
	return Coverage{}
}

// Parts are copies of the pending parts, by number.
func (j *Journal) Parts() []Part {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Part, 0, len(j.st.parts))
	for _, n := range slices.Sorted(maps.Keys(j.st.parts)) {
		out = append(out, j.st.parts[n].clone())
	}
	return out
}

// Part is a copy of one pending part, and false if there is none.
func (j *Journal) Part(n uint64) (Part, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.st.parts[n]; p != nil {
		return p.clone(), true
	}
	return Part{}, false
}

// Leftovers are the temps of finished parts that aren't confirmed gone.
func (j *Journal) Leftovers() []Leftover {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.st.leftovers)
}

// Totals count what was ever finished.
func (j *Journal) Totals() Totals {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.st.totals
}

// Usage is the bytes that segments and spares take on the disk.
func (j *Journal) Usage() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	total := int64(len(j.spares)) * j.segmentSize
	for _, s := range j.segments {
		total += s.size
	}
	return total
}
