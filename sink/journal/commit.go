package journal

import (
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// Attempted says that a temp of the part is about to be created.
type Attempted struct {
	Part uint64
	Temp string
}

func (Attempted) kind() Kind { return KindAttempt }

func (f Attempted) encode(b []byte) []byte { return putString(putUint(b, f.Part), f.Temp) }

func (f Attempted) apply(s *state, _ log.Location) {
	s.withPart(f.Part, f, func(p *Part) { p.Attempts = append(p.Attempts, Attempt{Temp: f.Temp}) })
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

func (f Uploaded) apply(s *state, _ log.Location) {
	s.withPart(f.Part, f, func(p *Part) {
		i := slices.IndexFunc(p.Attempts, func(a Attempt) bool { return a.Temp == f.Temp })
		if i < 0 {
			s.oddf("part %d was uploaded to %s, which no attempt names", f.Part, f.Temp)
			return
		}
		p.Attempts[i] = f.Attempt
		p.Attempts[i].State = AttemptUploaded
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

func (f Renaming) apply(s *state, _ log.Location) {
	s.nextPart = max(s.nextPart, f.Next)
	s.withPart(f.Part, f, func(p *Part) {
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

func (f Finished) apply(s *state, _ log.Location) {
	s.withPart(f.Part, f, func(p *Part) { s.finish(p, f.Temp) })
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

func (f Abandoned) apply(s *state, _ log.Location) {
	s.leftovers = slices.DeleteFunc(s.leftovers, func(l Leftover) bool { return l == Leftover{f.Target, f.Temp} })
	if p := s.parts[f.Part]; p == nil {
		s.stray(f.Part, f)
	} else {
		p.Attempts = slices.DeleteFunc(p.Attempts, func(a Attempt) bool { return a.Temp == f.Temp })
	}
}

// withPart calls change with the part that a frame names, which must exist.
func (s *state) withPart(n uint64, f Frame, change func(*Part)) {
	if p := s.parts[n]; p != nil {
		change(p)
		return
	}
	s.stray(n, f)
	s.oddf("a %v frame names part %d, which isn't pending", f.kind(), n)
}

// stray keeps a frame whose part may be found elsewhere.
func (s *state) stray(n uint64, f Frame) {
	if s.strays != nil {
		s.strays[n] = append(s.strays[n], f)
	}
}
