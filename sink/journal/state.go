package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// Origin is where Fluent Bit keeps a chunk: its file, which outlives retries
// and restarts, and what identifies the content. The zero Origin means that
// the chunk has no file, and then nothing is remembered of it.
type Origin struct {
	Dir    string // directory of the chunk file
	Name   string
	Length uint32
	CRC    uint32 // CRC-32C of the content
}

// originKey stands for an Origin where many are kept.
type originKey [16]byte

func (o Origin) key() originKey {
	h := sha256.New()
	h.Write([]byte(o.Dir))
	h.Write([]byte{0})
	h.Write([]byte(o.Name))
	h.Write(binary.LittleEndian.AppendUint64([]byte{0}, uint64(o.Length)<<32|uint64(o.CRC)))
	return originKey(h.Sum(nil)[:16])
}

// location is where a frame lies.
type location struct {
	segment uint64
	offset  int64
	length  uint32 // of the payload
}

func (l location) size() int64 { return frameSize(int(l.length)) }

// chunk is an accepted chunk of which some records aren't in rolled parts yet.
type chunk struct {
	loc      location
	arrival  time.Time
	covered  Coverage
	deaths   uint8 // process deaths in a row while it was being decoded
	asLetter bool  // an operator sent it undecoded to the dead letters
}

// AttemptState is how far an attempt to upload a part came.
type AttemptState uint8

const (
	// AttemptBegun: the temp may exist, with any content.
	AttemptBegun AttemptState = iota
	// AttemptUploaded: the temp is whole, and is the file that Info identifies.
	AttemptUploaded
)

// Attempt is a temp path on the target that may hold something of ours.
type Attempt struct {
	Temp  string
	State AttemptState
	// ID, Length and ModTime identify the uploaded file (fs.Info's).
	ID      string
	Length  int64
	ModTime time.Time
}

// Part is a rolled part that isn't finished.
type Part struct {
	Number  uint64
	Staged  string // name in the staging directory
	Length  int64
	CRC     uint32 // CRC-32C of the staged file
	Records int64
	First   time.Time // arrival of its oldest record's chunk
	Rolled  time.Time

	Target string // scheme://authority
	Base   string // the sink's base path on the target
	Bucket string // below Base, "" for Base itself
	Prefix string // the name is Prefix + "-" + number + Suffix
	Suffix string

	FileMode    uint32
	DirMode     uint32
	Replication int
	BlockSize   int64

	// Attempts are all temps not confirmed gone; the last one is current while
	// it is uploaded or Finals isn't empty.
	Attempts []Attempt
	// Finals are the final names for which a rename may have happened, in the
	// order tried.
	Finals []string
	// Held says why no rule can decide what became of the part; "" if it isn't
	// held.
	Held string
}

func (p *Part) clone() Part {
	c := *p
	c.Attempts, c.Finals = slices.Clone(p.Attempts), slices.Clone(p.Finals)
	return c
}

// Leftover is the temp of a finished part that isn't confirmed gone.
type Leftover struct{ Target, Temp string }

// seenBatch is a frame of identities whose files are gone.
type seenBatch struct {
	loc   location
	since time.Duration // the state's running time when it was written
	keys  []originKey   // sorted
}

// present is an identity whose file may still exist.
type present struct{ dir, name string }

// Totals count what the instance ever finished.
type Totals struct{ Parts, Records, Bytes uint64 }

// state is everything the journal remembers. The writer goroutine alone
// changes it, with Journal.mu held.
type state struct {
	id       [16]byte
	writerID string
	dirInode uint64
	dirBirth time.Time

	nextSeq  uint64 // of chunks and seen batches
	nextPart uint64
	running  time.Duration // running time of all processes so far
	totals   Totals

	chunks    map[uint64]*chunk
	parts     map[uint64]*Part
	leftovers []Leftover
	decoding  []uint64 // chunks that were about to be decoded

	present map[originKey]present
	batches map[uint64]*seenBatch

	// older are the segments that counted when the snapshot was written, and up
	// to which offset.
	older map[uint64]int64
	// live is the bytes of live frames by segment.
	live map[uint64]int64
	// odd collects what a frame referred to in vain; only damage explains it.
	odd []string
}

func newState() *state {
	return &state{
		nextSeq: 1, nextPart: 1,
		chunks: map[uint64]*chunk{}, parts: map[uint64]*Part{},
		present: map[originKey]present{}, batches: map[uint64]*seenBatch{},
		older: map[uint64]int64{}, live: map[uint64]int64{},
	}
}

func (s *state) oddf(format string, a ...any) { s.odd = append(s.odd, fmt.Sprintf(format, a...)) }

// known reports whether the identity was accepted before.
func (s *state) known(k originKey) bool {
	if _, ok := s.present[k]; ok {
		return true
	}
	for _, b := range s.batches {
		if _, ok := slices.BinarySearchFunc(b.keys, k, compareKeys); ok {
			return true
		}
	}
	return false
}

func compareKeys(a, b originKey) int { return slices.Compare(a[:], b[:]) }

func (s *state) addLive(l location) { s.live[l.segment] += l.size() }

func (s *state) dropLive(l location) {
	if s.live[l.segment] -= l.size(); s.live[l.segment] <= 0 {
		delete(s.live, l.segment)
	}
}

func (s *state) dropChunk(seq uint64) {
	if c := s.chunks[seq]; c != nil {
		s.dropLive(c.loc)
		delete(s.chunks, seq)
	}
}

// cover marks a share's records as being in a rolled part.
func (s *state) cover(sh Share) {
	c := s.chunks[sh.Seq]
	if c == nil {
		s.oddf("a rolled part holds records of chunk %d, which isn't live", sh.Seq)
		return
	}
	if sh.Count == sh.Records {
		s.dropChunk(sh.Seq)
		return
	}
	ok := eachRun(sh.Runs, c.covered.addRun)
	if !ok {
		s.oddf("a rolled part's share of chunk %d is malformed", sh.Seq)
	}
	if c.covered.Count() >= sh.Records {
		s.dropChunk(sh.Seq)
	}
}

// beginProcess counts the deaths of what the last process was decoding.
func (s *state) beginProcess() {
	dying := map[uint64]bool{}
	for _, seq := range s.decoding {
		dying[seq] = true
	}
	for seq, c := range s.chunks {
		switch {
		case !dying[seq]:
			c.deaths = 0
		case c.deaths < 255:
			c.deaths++
		}
	}
	s.decoding = nil
}
