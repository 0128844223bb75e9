package journal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// model is what a journal should remember, in the plainest way.
type model struct {
	chunks    map[uint64]*modelChunk
	parts     map[uint64]Part
	leftovers []Leftover
	known     map[originKey]bool
	gone      map[originKey]bool // known ones whose files are gone
	decoding  []uint64
	totals    Totals
}

type modelChunk struct {
	data    string
	origin  Origin
	covered map[uint32]bool
	deaths  int
	letter  bool
}

func newModel() *model {
	return &model{chunks: map[uint64]*modelChunk{}, parts: map[uint64]Part{}, known: map[originKey]bool{}, gone: map[originKey]bool{}}
}

func (m *model) clone() *model {
	c := *m
	c.chunks = map[uint64]*modelChunk{}
	for seq, ch := range m.chunks {
		copied := *ch
		copied.covered = maps.Clone(ch.covered)
		c.chunks[seq] = &copied
	}
	c.parts = map[uint64]Part{}
	for n, p := range m.parts {
		c.parts[n] = p.clone()
	}
	c.leftovers, c.decoding = slices.Clone(m.leftovers), slices.Clone(m.decoding)
	c.known, c.gone = maps.Clone(m.known), maps.Clone(m.gone)
	return &c
}

func (m *model) accept(seq uint64, o Origin, data string) {
	m.chunks[seq] = &modelChunk{data: data, origin: o, covered: map[uint32]bool{}}
	if o.Name != "" {
		m.known[o.key()] = true
	}
}

func (m *model) apply(f Frame) {
	switch f := f.(type) {
	case Decoding:
		for _, seq := range m.decoding {
			if c := m.chunks[seq]; c != nil && !slices.Contains(f.Seqs, seq) {
				c.deaths = 0
			}
		}
		m.decoding = f.Seqs
	case Rolled:
		m.parts[f.Part.Number] = f.Part.clone()
		for _, sh := range f.Shares {
			m.cover(sh)
		}
	case Void:
		delete(m.chunks, f.Seq)
	case Lost:
		k := m.chunks[f.Seq].origin.key()
		delete(m.known, k)
		delete(m.gone, k)
		delete(m.chunks, f.Seq)
	case *seenFrame: // known it is before and after
		for _, k := range f.keys {
			m.gone[k] = true
		}
	case *directoryFrame: // what is known of it changes nothing else
	case Resolved:
		m.resolve(f)
	default:
		m.step(f)
	}
}

func (m *model) cover(sh Share) {
	c := m.chunks[sh.Seq]
	eachRun(sh.Runs, 1<<31, func(from, to uint32) {
		for i := from; i < to; i++ {
			c.covered[i] = true
		}
	})
	if len(c.covered) == int(sh.Records) {
		delete(m.chunks, sh.Seq)
	}
}

// step changes a part.
func (m *model) step(f Frame) {
	change := func(n uint64, do func(p *Part)) {
		p := m.part(n)
		do(&p)
		m.parts[n] = p
	}
	switch f := f.(type) {
	case Attempted:
		change(f.Part, func(p *Part) { p.Attempts = append(p.Attempts, Attempt{Temp: f.Temp}) })
	case Uploaded:
		change(f.Part, func(p *Part) {
			a := f.Attempt
			a.State = AttemptUploaded
			p.Attempts[len(p.Attempts)-1] = a
		})
	case Renaming:
		change(f.Part, func(p *Part) { p.Finals = append(p.Finals, f.Final) })
	case Held:
		change(f.Part, func(p *Part) { p.Held = f.Why })
	case Finished:
		m.finish(m.parts[f.Part], func(a Attempt) bool { return a.Temp != f.Temp })
	case Abandoned:
		if f.Part == 0 {
			m.leftovers = slices.DeleteFunc(m.leftovers, func(l Leftover) bool { return l.Temp == f.Temp })
		} else {
			change(f.Part, func(p *Part) {
				p.Attempts = slices.DeleteFunc(p.Attempts, func(a Attempt) bool { return a.Temp == f.Temp })
			})
		}
	default:
		panic(fmt.Sprintf("the model doesn't know %T", f))
	}
}

func (m *model) part(n uint64) Part {
	p := m.parts[n]
	return p.clone()
}

func (m *model) finish(p Part, left func(Attempt) bool) {
	for _, a := range p.Attempts {
		if left(a) {
			m.leftovers = append(m.leftovers, Leftover{p.Target, a.Temp})
		}
	}
	m.totals.Parts++
	m.totals.Records += uint64(p.Records)
	m.totals.Bytes += uint64(p.Length)
	delete(m.parts, p.Number)
}

func (m *model) resolve(f Resolved) {
	switch f.How {
	case PublishAgain:
		p := m.part(f.Part)
		p.Held, p.Finals = "", nil
		for i := range p.Attempts {
			p.Attempts[i].State = AttemptBegun
		}
		m.parts[f.Part] = p
	case AcceptDone:
		m.finish(m.parts[f.Part], func(a Attempt) bool { return a.State == AttemptBegun })
	case DecodeAgain, DeadLetter:
		m.chunks[f.Seq].deaths, m.chunks[f.Seq].letter = 0, f.How == DeadLetter
	}
}

// die is a process death and the next start.
func (m *model) die() {
	for _, seq := range m.decoding {
		if c := m.chunks[seq]; c != nil {
			c.deaths++
		}
	}
	m.decoding = nil
}

// describe is what describe says of a journal in that state.
func (m *model) describe() string {
	var out []string
	for _, c := range m.chunks {
		covered := slices.Sorted(maps.Keys(c.covered))
		out = append(out, fmt.Sprintf("chunk %.12s… %x %s %d covered %v deaths %d letter %v %v",
			[]byte(c.data), CRC([]byte(c.data)), "tag", arrival.UnixNano(), covered, c.deaths, c.letter, nil))
	}
	for _, p := range m.parts {
		out = append(out, describePart(p.clone()))
	}
	for _, l := range m.leftovers {
		out = append(out, fmt.Sprint("leftover ", l.Target, " ", l.Temp))
	}
	for k := range m.known {
		if m.gone[k] {
			out = append(out, fmt.Sprintf("known %x, its file gone", k))
		} else {
			out = append(out, fmt.Sprintf("known %x", k))
		}
	}
	slices.Sort(out)
	return strings.Join(append(out, fmt.Sprint(m.totals)), "\n")
}
