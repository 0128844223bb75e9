package journal

import (
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// chunk is an accepted chunk of which some records aren't in rolled parts yet.
type chunk struct {
	loc      log.Location
	arrival  time.Time
	key      originKey // zero if the chunk has no file
	covered  Coverage
	records  uint32 // of the whole chunk, 0 until one is in a rolled part
	deaths   uint8  // process deaths in a row while it was being decoded
	asLetter bool   // an operator sent it undecoded to the dead letters
}

type chunkFrame struct {
	seq     uint64
	arrival time.Time
	origin  Origin
	tag     string
	dataLen int // the payload is the encoding of all this, then the data
}

func (f *chunkFrame) kind() Kind { return KindChunk }

// encode appends what precedes the data.
func (f *chunkFrame) encode(b []byte) []byte {
	b = putTime(putUint(b, f.seq), f.arrival)
	b = putString(putString(b, f.origin.Dir), f.origin.Name)
	b = putUint(putUint(b, uint64(f.origin.Length)), uint64(f.origin.CRC))
	b = putString(b, f.tag)
	return putUint(b, uint64(f.dataLen))
}

// decodeChunk returns the frame and the chunk's data, which aliases the
// payload.
func decodeChunk(payload []byte) (*chunkFrame, []byte, error) {
	r := reader{b: payload}
	f := &chunkFrame{seq: r.uint(), arrival: r.time()}
	f.origin = Origin{Dir: r.string(), Name: r.string(), Length: r.uint32(), CRC: r.uint32()}
	f.tag = r.string()
	data := r.bytes()
	f.dataLen = len(data)
	return f, data, r.end()
}

func (f *chunkFrame) apply(s *state, loc log.Location) {
	s.nextSeq = max(s.nextSeq, f.seq+1)
	if c := s.chunks[f.seq]; c != nil { // copied forward
		s.dropLive(c.loc)
		c.loc = loc
		s.addLive(loc)
		return
	}
	c := &chunk{loc: loc, arrival: f.arrival}
	if f.origin.Name != "" {
		c.key = f.origin.key()
		if s.known(c.key) {
			return // the same chunk again: it counts once
		}
		s.identities[c.key] = identity{dir: s.originDir(f.origin.Dir), name: f.origin.Name}
	}
	s.chunks[f.seq] = c
	s.ledger.Chunks++
	s.addLive(loc)
}

// Decoding says which chunks are about to be decoded, instead of those that
// the frame before said. A chunk that is no longer named survived it.
type Decoding struct{ Seqs []uint64 }

func (Decoding) kind() Kind { return KindDecoding }

func (f Decoding) encode(b []byte) []byte { return putSeqs(b, f.Seqs) }

func (f Decoding) apply(s *state, _ log.Location) {
	for _, seq := range s.decoding {
		if c := s.chunks[seq]; c != nil && !slices.Contains(f.Seqs, seq) {
			c.deaths = 0
		}
	}
	s.decoding = slices.Clone(f.Seqs)
}

func putSeqs(b []byte, seqs []uint64) []byte {
	b = putUint(b, uint64(len(seqs)))
	for _, q := range seqs {
		b = putUint(b, q)
	}
	return b
}

func (r *reader) seqs() []uint64 {
	var out []uint64
	for range r.count(1) {
		out = append(out, r.uint())
	}
	return out
}

// Void says that there is nothing to keep of the chunk: it holds no record, or
// it became durable too late for its flush and can't be told from itself when
// Fluent Bit delivers it again.
type Void struct{ Seq uint64 }

func (Void) kind() Kind { return KindVoid }

func (f Void) encode(b []byte) []byte { return putUint(b, f.Seq) }

func (f Void) apply(s *state, _ log.Location) {
	if c := s.chunks[f.Seq]; c != nil {
		s.countEmpty(c)
		s.dropChunk(f.Seq)
	}
}

// Lost says that the chunk can't be read any more. Unless its file is known to
// be gone its identity is forgotten: should Fluent Bit still have it, it is new.
type Lost struct{ Seq uint64 }

func (Lost) kind() Kind { return KindLost }

func (f Lost) encode(b []byte) []byte { return putUint(b, f.Seq) }

func (f Lost) apply(s *state, _ log.Location) { s.loseChunk(f.Seq) }
