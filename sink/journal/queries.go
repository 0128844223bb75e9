package journal

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// queries are the state, for those who ask. The writer goroutine alone changes it,
// but for the numbers that are given out.
type queries struct {
	mu      sync.Mutex
	st      *state
	opened  time.Time
	earlier time.Duration // running time of the processes before
}

// runningLocked is the running time of all processes, this one included.
func (l *queries) runningLocked() time.Duration { return l.earlier + time.Since(l.opened) }

// NextPart takes the next part number.
func (l *queries) NextPart() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.st.nextPart++
	return l.st.nextPart - 1
}

// NextNumber is the part number that NextPart would take.
func (l *queries) NextNumber() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.nextPart
}

// WriterID is the instance's name.
func (l *queries) WriterID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.writerID
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
func (l *queries) Chunks() []Live {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Live, 0, len(l.st.chunks))
	for seq, c := range l.st.chunks {
		out = append(out, c.describe(seq))
	}
	slices.SortFunc(out, func(a, b Live) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

func (c *chunk) describe(seq uint64) Live {
	return Live{Seq: seq, Length: int64(c.loc.Length), Arrival: c.arrival, Deaths: int(c.deaths), DeadLetter: c.asLetter}
}

// Chunk describes one live chunk, and false if it isn't live.
func (l *queries) Chunk(seq uint64) (Live, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.st.chunks[seq]
	if c == nil {
		return Live{}, false
	}
	return c.describe(seq), true
}

// Covered is which records of a chunk are in rolled parts now.
func (l *queries) Covered(seq uint64) Coverage {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.st.chunks[seq]; c != nil {
		return c.covered.clone()
	}
	return Coverage{}
}

// Parts are copies of the pending parts, by number.
func (l *queries) Parts() []Part {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Part, 0, len(l.st.parts))
	for _, n := range slices.Sorted(maps.Keys(l.st.parts)) {
		out = append(out, l.st.parts[n].clone())
	}
	return out
}

// Part is a copy of one pending part, and false if there is none.
func (l *queries) Part(n uint64) (Part, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.st.parts[n]; p != nil {
		return p.clone(), true
	}
	return Part{}, false
}

// Leftovers are the temps of finished parts that aren't confirmed gone.
func (l *queries) Leftovers() []Leftover {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.st.leftovers)
}

// Totals count what was ever finished.
func (l *queries) Totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.st.totals
}
