package journal

import (
	"fmt"
	"slices"
	"time"
)

// Frame is something to remember. It is encoded when it is appended and takes
// effect on the state when it is synced.
type Frame interface {
	kind() Kind
	encode(b []byte) []byte
	// apply changes the state. loc is where the frame lies.
	apply(s *state, loc location)
}

// Share is what one rolled part holds of one chunk.
type Share struct {
	Seq     uint64
	Records uint32 // records of the whole chunk, an undecodable rest included
	Count   uint32 // records in the share
	Runs    []byte // Ranges.Bytes of their ordinals
}

type chunkFrame struct {
	seq     uint64
	arrival time.Time
	origin  Origin
	tag     string
	// meta is the encoding of the above; the payload is meta, then the data.
	dataLen int
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
	f.origin = Origin{Dir: r.string(), Name: r.string(), Length: uint32(r.uint()), CRC: uint32(r.uint())}
	f.tag = r.string()
	data := r.bytes()
	f.dataLen = len(data)
	return f, data, r.err
}

func (f *chunkFrame) apply(s *state, loc location) {
	s.nextSeq = max(s.nextSeq, f.seq+1)
	if c := s.chunks[f.seq]; c != nil { // copied forward
		s.dropLive(c.loc)
		c.loc = loc
		s.addLive(loc)
		return
	}
	if f.origin.Name != "" {
		k := f.origin.key()
		if s.known(k) {
			return // the same chunk again: it counts once
		}
		s.present[k] = present{f.origin.Dir, f.origin.Name}
	}
	s.chunks[f.seq] = &chunk{loc: loc, arrival: f.arrival}
	s.addLive(loc)
}

// Decoding says which chunks are about to be decoded, instead of those that
// the frame before said.
type Decoding struct{ Seqs []uint64 }

func (Decoding) kind() Kind { return KindDecoding }

func (f Decoding) encode(b []byte) []byte { return putSeqs(b, f.Seqs) }

func (f Decoding) apply(s *state, _ location) { s.decoding = f.Seqs }

func putSeqs(b []byte, seqs []uint64) []byte {
	b = putUint(b, uint64(len(seqs)))
	for _, q := range seqs {
		b = putUint(b, q)
	}
	return b
}

func (r *reader) seqs() []uint64 {
	n := r.count(1)
	out := make([]uint64, 0, n)
	for range n {
		out = append(out, r.uint())
	}
	return out
}

// Rolled says that a part is pending: its staged file is whole and durable.
type Rolled struct {
	Part   Part
	Shares []Share
}

func (Rolled) kind() Kind { return KindRolled }

func (f Rolled) encode(b []byte) []byte {
	b = putPart(b, &f.Part)
	b = putUint(b, uint64(len(f.Shares)))
	for _, sh := range f.Shares {
		b = putUint(putUint(putUint(b, sh.Seq), uint64(sh.Records)), uint64(sh.Count))
		b = putString(b, sh.Runs)
	}
	return b
}

func (f Rolled) apply(s *state, _ location) {
	p := f.Part.clone()
	s.parts[p.Number] = &p
	s.nextPart = max(s.nextPart, p.Number+1)
	for _, sh := range f.Shares {
		s.cover(sh)
	}
}

func decodeRolled(r *reader) Rolled {
	f := Rolled{Part: r.part()}
	for range r.count(4) {
		f.Shares = append(f.Shares, Share{Seq: r.uint(), Records: uint32(r.uint()), Count: uint32(r.uint()), Runs: slices.Clone(r.bytes())})
	}
	return f
}

func putPart(b []byte, p *Part) []byte {
	b = putString(putUint(b, p.Number), p.Staged)
	b = putInt(putUint(putInt(b, p.Length), uint64(p.CRC)), p.Records)
	b = putTime(putTime(b, p.First), p.Rolled)
	for _, s := range []string{p.Target, p.Base, p.Bucket, p.Prefix, p.Suffix} {
		b = putString(b, s)
	}
	b = putUint(putUint(b, uint64(p.FileMode)), uint64(p.DirMode))
	b = putInt(putInt(b, int64(p.Replication)), p.BlockSize)
	b = putUint(b, uint64(len(p.Attempts)))
	for _, a := range p.Attempts {
		b = putString(putUint(putString(b, a.Temp), uint64(a.State)), a.ID)
		b = putTime(putInt(b, a.Length), a.ModTime)
	}
	b = putUint(b, uint64(len(p.Finals)))
	for _, f := range p.Finals {
		b = putString(b, f)
	}
	return putString(b, p.Held)
}

func (r *reader) part() Part {
	p := Part{Number: r.uint(), Staged: r.string(), Length: r.int(), CRC: uint32(r.uint()), Records: r.int()}
	p.First, p.Rolled = r.time(), r.time()
	for _, s := range []*string{&p.Target, &p.Base, &p.Bucket, &p.Prefix, &p.Suffix} {
		*s = r.string()
	}
	p.FileMode, p.DirMode = uint32(r.uint()), uint32(r.uint())
	p.Replication, p.BlockSize = int(r.int()), r.int()
	for range r.count(5) {
		p.Attempts = append(p.Attempts, Attempt{Temp: r.string(), State: AttemptState(r.uint()), ID: r.string(), Length: r.int(), ModTime: r.time()})
	}
	for range r.count(1) {
		p.Finals = append(p.Finals, r.string())
	}
	p.Held = r.string()
	return p
}

// Attempted says that a temp of the part is about to be created.
type Attempted struct {
	Part uint64
	Temp string
}

func (Attempted) kind() Kind { return KindAttempt }

func (f Attempted) encode(b []byte) []byte { return putString(putUint(b, f.Part), f.Temp) }

func (f Attempted) apply(s *state, _ location) {
	s.withPart(f.Part, KindAttempt, func(p *Part) { p.Attempts = append(p.Attempts, Attempt{Temp: f.Temp}) })
}

// Uploaded says that the part's temp is whole, closed and durable, and which
// file it is.
type Uploaded struct {
	Part uint64
	Attempt
}

func (Uploaded) kind() Kind { return KindUploaded }

func (f Uploaded) encode(b []byte) []byte {
	b = putString(putString(putUint(b, f.Part), f.Temp), f.ID)
	return putTime(putInt(b, f.Length), f.ModTime)
}

func (f Uploaded) apply(s *state, _ location) {
	s.withPart(f.Part, KindUploaded, func(p *Part) {
		for i := range p.Attempts {
			if p.Attempts[i].Temp == f.Temp {
				p.Attempts[i] = f.Attempt
				p.Attempts[i].State = AttemptUploaded
			}
		}
	})
}

// Renaming says that the part's uploaded temp is about to be renamed to a
// final name. Next is the instance's next part number afterwards, since a
// name that was taken costs a number.
type Renaming struct {
	Part  uint64
	Final string
	Next  uint64
}

func (Renaming) kind() Kind { return KindRenaming }

func (f Renaming) encode(b []byte) []byte {
	return putUint(putString(putUint(b, f.Part), f.Final), f.Next)
}

func (f Renaming) apply(s *state, _ location) {
	s.nextPart = max(s.nextPart, f.Next)
	s.withPart(f.Part, KindRenaming, func(p *Part) {
		if !slices.Contains(p.Finals, f.Final) {
			p.Finals = append(p.Finals, f.Final)
		}
	})
}

// Finished says that the part is published. Temps other than the one that was
// published stay listed until they are Abandoned.
type Finished struct {
	Part  uint64
	Final string
	// Temp is the attempt that was published, "" if that isn't known.
	Temp string
}

func (Finished) kind() Kind { return KindFinished }

func (f Finished) encode(b []byte) []byte {
	return putString(putString(putUint(b, f.Part), f.Final), f.Temp)
}

func (f Finished) apply(s *state, _ location) {
	s.withPart(f.Part, KindFinished, func(p *Part) { s.finish(p, f.Temp) })
}

func (s *state) finish(p *Part, published string) {
	for _, a := range p.Attempts {
		if a.Temp != published {
			s.leftovers = append(s.leftovers, Leftover{p.Target, a.Temp})
		}
	}
	s.totals.Parts++
	s.totals.Records += uint64(p.Records)
	s.totals.Bytes += uint64(p.Length)
	delete(s.parts, p.Number)
}

// Abandoned says that an attempt's temp is confirmed gone.
type Abandoned struct {
	Target string
	Part   uint64 // 0 for a Leftover
	Temp   string
}

func (Abandoned) kind() Kind { return KindAbandoned }

func (f Abandoned) encode(b []byte) []byte {
	return putString(putUint(putString(b, f.Target), f.Part), f.Temp)
}

func (f Abandoned) apply(s *state, _ location) {
	s.leftovers = slices.DeleteFunc(s.leftovers, func(l Leftover) bool { return l == Leftover{f.Target, f.Temp} })
	if p := s.parts[f.Part]; p != nil {
		p.Attempts = slices.DeleteFunc(p.Attempts, func(a Attempt) bool { return a.Temp == f.Temp })
	}
}

// Void says that the chunk holds no record, so that there is nothing to keep.
type Void struct{ Seq uint64 }

func (Void) kind() Kind { return KindVoid }

func (f Void) encode(b []byte) []byte { return putUint(b, f.Seq) }

func (f Void) apply(s *state, _ location) { s.dropChunk(f.Seq) }

// Held says that no rule can decide what became of the part.
type Held struct {
	Part uint64
	Why  string
}

func (Held) kind() Kind { return KindHeld }

func (f Held) encode(b []byte) []byte { return putString(putUint(b, f.Part), f.Why) }

func (f Held) apply(s *state, _ location) {
	s.withPart(f.Part, KindHeld, func(p *Part) { p.Held = f.Why })
}

// Resolution is how an operator ends what is held.
type Resolution uint8

const (
	// PublishAgain forgets what may have been published of the part and goes on
	// as if it had just been rolled.
	PublishAgain Resolution = 1
	// AcceptDone takes the part for published.
	AcceptDone Resolution = 2
	// DecodeAgain lets a held chunk be decoded once more.
	DecodeAgain Resolution = 3
	// DeadLetter sends a held chunk to the dead letters undecoded.
	DeadLetter Resolution = 4
)

// Resolved ends what is held: the part for the first two resolutions, the
// chunk for the others.
type Resolved struct {
	Part uint64
	Seq  uint64
	How  Resolution
}

func (Resolved) kind() Kind { return KindResolved }

func (f Resolved) encode(b []byte) []byte {
	return putUint(putUint(putUint(b, f.Part), f.Seq), uint64(f.How))
}

func (f Resolved) apply(s *state, _ location) {
	switch f.How {
	case PublishAgain:
		s.withPart(f.Part, KindResolved, func(p *Part) {
			p.Held, p.Finals = "", nil
			for i := range p.Attempts {
				p.Attempts[i].State = AttemptBegun
			}
		})
	case AcceptDone:
		// The temp may be the very file that was published: it isn't removed.
		s.withPart(f.Part, KindResolved, func(p *Part) {
			p.Attempts = slices.DeleteFunc(p.Attempts, func(a Attempt) bool { return a.State == AttemptUploaded })
			s.finish(p, "")
		})
	case DecodeAgain, DeadLetter:
		if c := s.chunks[f.Seq]; c != nil {
			c.deaths, c.asLetter = 0, f.How == DeadLetter
		} else {
			s.oddf("chunk %d was resolved, but isn't live", f.Seq)
		}
	}
}

// withPart calls f with a part that must exist.
func (s *state) withPart(n uint64, k Kind, f func(*Part)) {
	if p := s.parts[n]; p != nil {
		f(p)
		return
	}
	s.oddf("a %v frame names part %d, which isn't pending", k, n)
}

// seenFrame moves identities whose files are gone into a frame of their own.
type seenFrame struct {
	seq   uint64
	since time.Duration
	keys  []originKey // sorted
}

func (*seenFrame) kind() Kind { return KindSeen }

func (f *seenFrame) encode(b []byte) []byte {
	b = putInt(putUint(b, f.seq), int64(f.since))
	b = putUint(b, uint64(len(f.keys)))
	for _, k := range f.keys {
		b = append(b, k[:]...)
	}
	return b
}

func (f *seenFrame) apply(s *state, loc location) {
	s.nextSeq = max(s.nextSeq, f.seq+1)
	if b := s.batches[f.seq]; b != nil { // copied forward
		s.dropLive(b.loc)
	}
	s.addLive(loc)
	s.batches[f.seq] = &seenBatch{loc: loc, since: f.since, keys: f.keys}
	for _, k := range f.keys {
		delete(s.present, k)
	}
}

func decodeSeen(r *reader) *seenFrame {
	f := &seenFrame{seq: r.uint(), since: time.Duration(r.int())}
	n := r.count(len(originKey{}))
	for range n {
		f.keys = append(f.keys, originKey(r.b[:16]))
		r.b = r.b[16:]
	}
	return f
}

// decodeFrame decodes any frame but a snapshot.
func decodeFrame(k Kind, payload []byte) (Frame, error) {
	r := &reader{b: payload}
	var f Frame
	switch k {
	case KindChunk:
		c, _, err := decodeChunk(payload)
		return c, err
	case KindDecoding:
		f = Decoding{r.seqs()}
	case KindRolled:
		f = decodeRolled(r)
	case KindAttempt:
		f = Attempted{r.uint(), r.string()}
	case KindUploaded:
		f = Uploaded{r.uint(), Attempt{Temp: r.string(), ID: r.string(), Length: r.int(), ModTime: r.time()}}
	case KindRenaming:
		f = Renaming{r.uint(), r.string(), r.uint()}
	case KindFinished:
		f = Finished{r.uint(), r.string(), r.string()}
	case KindAbandoned:
		f = Abandoned{r.string(), r.uint(), r.string()}
	case KindVoid:
		f = Void{r.uint()}
	case KindSeen:
		f = decodeSeen(r)
	case KindHeld:
		f = Held{r.uint(), r.string()}
	case KindResolved:
		f = Resolved{r.uint(), r.uint(), Resolution(r.uint())}
	default:
		return nil, fmt.Errorf("frame of unknown %v: %w", k, errBadFrame)
	}
	return f, r.err
}
