package journal

import (
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// Held says that no rule can decide what became of the part.
type Held struct {
	Part uint64
	Why  string
}

func (Held) kind() Kind { return KindHeld }

func (f Held) encode(b []byte) []byte { return putString(putUint(b, f.Part), f.Why) }

func (f Held) apply(s *state, _ log.Location) {
	s.withPart(f.Part, f, func(p *Part) { p.Held = f.Why })
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
	// TakeForPublished ends a held chunk of which every record was published.
	TakeForPublished Resolution = 5
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

func (f Resolved) apply(s *state, _ log.Location) {
	switch f.How {
	case PublishAgain:
		s.withPart(f.Part, f, func(p *Part) {
			p.Held, p.Finals, p.Again = "", nil, true
			for i := range p.Attempts {
				p.Attempts[i].State = AttemptBegun
			}
		})
	case AcceptDone:
		// The temp may be the very file that was published: it isn't removed.
		s.withPart(f.Part, f, func(p *Part) {
			p.Attempts = slices.DeleteFunc(p.Attempts, Attempt.uploaded)
			s.finish(p, "")
		})
	case TakeForPublished:
		if c := s.chunks[f.Seq]; c != nil {
			s.countLost(c) // which of its records are in which parts isn't known
			s.dropChunk(f.Seq)
		}
	case DecodeAgain, DeadLetter:
		if c := s.chunks[f.Seq]; c != nil {
			c.deaths, c.doubtful, c.asLetter = 0, false, f.How == DeadLetter
		} else {
			s.oddf("chunk %d was resolved, but isn't live", f.Seq)
		}
	}
}

// encodeAgain appends the numbers of the parts that an operator said to publish,
// nothing if there are none: log.Version 1's layout of a part doesn't say it.
func (s *state) encodeAgain(b []byte) []byte {
	var again []uint64
	for _, n := range sortedKeys(s.parts) {
		if s.parts[n].Again {
			again = append(again, n)
		}
	}
	if len(again) == 0 {
		return b
	}
	return putSeqs(b, again)
}

func (s *state) decodeAgain(r *reader) {
	for _, n := range r.seqs() {
		p := s.parts[n]
		if p == nil {
			r.fail()
			return
		}
		p.Again = true
	}
}
