package journal

import (
	"fmt"
	"math"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// Leftover is the temp of a finished part that isn't confirmed gone.
type Leftover struct{ Target, Temp string }

// older is a segment that a snapshot refers to.
type older struct {
	upTo int64  // frames below this offset count
	salt uint64 // as in its header
}

// Totals count what the instance ever finished.
type Totals struct{ Parts, Records, Bytes uint64 }

// state is everything the journal remembers. The writer goroutine alone
// changes it, with Journal.mu held.
type state struct {
	id       [16]byte
	writerID string
	dirInode uint64
	dirBirth time.Time

	nextSeq  uint64 // of chunks
	nextPart uint64
	running  time.Duration // running time of all processes so far
	totals   Totals
	ledger   Ledger
	letters  func(bucket string) bool // Options.Letters

	chunks    map[uint64]*chunk
	parts     map[uint64]*Part
	leftovers []Leftover
	decoding  []uint64 // chunks that were about to be decoded

	identities map[originKey]identity
	dirs       map[string]*originDir // which one is at a path, as it was noted last

	// seen are frames of identities that a snapshot of log.Version 1 refers to. The
	// loader reads them.
	seen []log.Location

	// older are the segments that counted when the snapshot was written.
	older map[uint64]older
	// live is the bytes of live frames by segment.
	live map[uint64]int64
	// odd collects what a frame referred to in vain; only damage explains it.
	odd []string
}

func newState() *state {
	return &state{
		nextSeq: 1, nextPart: 1,
		chunks: map[uint64]*chunk{}, parts: map[uint64]*Part{},
		identities: map[originKey]identity{}, dirs: map[string]*originDir{},
		older: map[uint64]older{}, live: map[uint64]int64{},
	}
}

func (s *state) oddf(format string, a ...any) { s.odd = append(s.odd, fmt.Sprintf(format, a...)) }

func (s *state) addLive(l log.Location) { s.live[l.Segment] += l.Size() }

func (s *state) dropLive(l log.Location) {
	if s.live[l.Segment] -= l.Size(); s.live[l.Segment] <= 0 {
		delete(s.live, l.Segment)
	}
}

func (s *state) dropChunk(seq uint64) {
	if c := s.chunks[seq]; c != nil {
		s.dropLive(c.loc)
		delete(s.chunks, seq)
	}
}

// loseChunk drops a chunk that can't be read, and forgets its identity.
func (s *state) loseChunk(seq uint64) {
	if c := s.chunks[seq]; c != nil {
		delete(s.identities, c.key)
		s.countLost(c)
		s.dropChunk(seq)
	}
}

// cover marks a share's records as being in a rolled part, of dead letters or not.
func (s *state) cover(sh Share, letters bool) {
	c := s.chunks[sh.Seq]
	if c == nil {
		s.oddf("a rolled part holds records of chunk %d, which isn't live", sh.Seq)
		return
	}
	before := c.covered.Count()
	// A record takes at least a byte of the chunk: no ordinal is higher.
	if !c.covered.add(sh.Runs, c.loc.Length) {
		s.oddf("a rolled part's share of chunk %d is malformed", sh.Seq)
		return
	}
	s.count(c, before, sh, letters)
	if c.covered.Count() >= sh.Records {
		s.dropChunk(sh.Seq)
	}
}

// beginProcess counts the deaths of what the last process was decoding. A
// chunk that it didn't announce keeps its count: it neither died nor survived.
func (s *state) beginProcess() {
	for _, seq := range s.decoding {
		if c := s.chunks[seq]; c != nil && c.deaths < math.MaxUint8 {
			c.deaths++
		}
	}
	s.decoding = nil
}
