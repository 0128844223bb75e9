package journal

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// StagedFiles are the staged files, as a start asks about them that finds damage.
// The names are those of Part.Staged.
type StagedFiles interface {
	// List names all of them, in any order.
	List() ([]string, error)
	// Description is what the file's end says of it, nil if it says nothing.
	Description(name string) ([]byte, error)
	// Holds reports whether the file begins with a content of that length and
	// CRC-32C.
	Holds(name string, length int64, crc uint32) (bool, error)
	// SetAside moves the file out of the way, for good and for whoever wants to look
	// at it. It answers where it is then, and its size in bytes.
	SetAside(name string) (where string, size int64, err error)
}

// Describe is what a staged file says of itself: the frame that makes it pending.
// With it the part is found again if the frame is damaged.
func (j *Journal) Describe(f Rolled) []byte {
	j.mu.Lock()
	id := j.st.id
	j.mu.Unlock()
	return f.encode(id[:])
}

// ReadDescription is the inverse. ok is false for what isn't a description.
func ReadDescription(b []byte) (f Rolled, ok bool) {
	r := &reader{b: b}
	r.key() // the state's id
	f = decodeRolled(r)
	return f, r.end() == nil
}

// describes answers the description of that file of that state, and false if it
// isn't that.
func describes(b []byte, id [16]byte, name string) (Rolled, bool) {
	f, ok := ReadDescription(b)
	return f, ok && bytes.HasPrefix(b, id[:]) && f.Part.Staged == name
}

// final is the name that the part is given if nobody else has it.
func (p *Part) final() string {
	return path.Join(p.Base, p.Bucket, fmt.Sprintf("%s-%d%s", p.Prefix, p.Number, p.Suffix))
}

// restorer finds rolled parts again of which a damaged journal doesn't tell, and
// decides what isn't known of the others.
type restorer struct {
	*loader
	files StagedFiles
}

// restore does so, before a segment is begun: a crash in between finds the damage
// again. It removes nothing: what no part names is set aside.
func (r *restorer) restore() error {
	unnamed, err := r.unnamed()
	if err != nil {
		return err
	}
	described := map[string]Rolled{}
	for _, name := range unnamed {
		d, err := r.files.Description(name)
		if err != nil {
			return fmt.Errorf("read what %s says of itself: %w", name, err)
		}
		if f, ok := describes(d, r.st.id, name); ok {
			described[name] = f
			r.missesEnd(f)
		}
	}
	if r.hidden.none() && !r.damaged() {
		return nil
	}
	for _, name := range unnamed {
		f, ok := described[name]
		if err := r.one(name, f, ok); err != nil {
			return err
		}
	}
	r.doubtParts()
	r.doubtChunks()
	return nil
}

// damaged reports whether damage was found, or is about to be.
func (r *restorer) damaged() bool {
	for _, c := range r.st.chunks {
		if r.unreachable(c) {
			return true
		}
	}
	return len(r.report.Damage) > 0
}

func (r *restorer) unnamed() ([]string, error) {
	names, err := r.files.List()
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, p := range r.st.parts {
		named[p.Staged] = true
	}
	names = slices.DeleteFunc(names, func(n string) bool { return named[n] })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return names, nil
}

// missesEnd finds that the journal's newest segment is gone, or an older state of
// it is back: a chunk is journaled before any part holds records of it.
func (r *restorer) missesEnd(f Rolled) {
	for _, sh := range f.Shares {
		if sh.Seq >= r.st.nextSeq && !r.hidden.all {
			r.hidden.all = true
			r.report.damage("%s tells of chunk %d, of which the journal doesn't: its end is missing, or was replaced by an older one",
				f.Part.Staged, sh.Seq)
		}
	}
}

// one takes an unnamed staged file up as a part, or sets it aside.
func (r *restorer) one(name string, f Rolled, described bool) error {
	why := "nothing in it says which part it is, as in one that was in progress: its records are in the journal"
	if described {
		holds, err := r.files.Holds(name, f.Part.Length, f.Part.CRC)
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		case !holds:
			why = "its content isn't what it was"
			r.buildAgain(f)
		default:
			if why = r.elsewhere(f); why == "" {
				r.takeUp(f)
				return nil
			}
		}
	}
	where, size, err := r.files.SetAside(name)
	if err != nil {
		return err
	}
	what := ""
	if described {
		what = fmt.Sprintf(", part %d with %d records of bucket %q", f.Part.Number, f.Part.Records, f.Part.Bucket)
	}
	r.report.damage("a staged file that no part names was moved to %s, %d bytes%s: %s", where, size, what, why)
	return nil
}

// buildAgain is for a part whose file's content is damaged. Unless it may be published
// its records are decoded again, where their chunks are live. Its temps are removed.
func (r *restorer) buildAgain(f Rolled) {
	strays := r.st.strays[f.Part.Number]
	began := slices.ContainsFunc(strays, func(s Frame) bool { return s.kind() == KindRenaming || s.kind() == KindFinished })
	if began || r.hidden.may(renamed(&f.Part)...) {
		return
	}
	r.hidden.found(f)
	for _, s := range strays {
		switch s := s.(type) {
		case Attempted:
			r.st.leftovers = append(r.st.leftovers, Leftover{f.Part.Target, s.Temp})
		case Abandoned:
			s.apply(r.st, log.Location{})
		}
	}
}

// elsewhere says why a described file's records are known to be in other files, ""
// if they aren't.
func (r *restorer) elsewhere(f Rolled) string {
	if p := r.st.parts[f.Part.Number]; p != nil {
		return "the part has another staged file"
	}
	for _, sh := range f.Shares {
		c := r.st.chunks[sh.Seq]
		if c == nil {
			if r.hidden.may(&chunkFrame{}) {
				continue // what became of it isn't known
			}
			return fmt.Sprintf("all records of chunk %d are in other parts", sh.Seq)
		}
		covered := false
		sound := eachRun(sh.Runs, c.loc.Length, func(from, to uint32) {
			for o := from; o < to; o++ {
				covered = covered || c.covered.Has(o)
			}
		})
		if !sound || covered {
			return fmt.Sprintf("records of chunk %d that it holds are in other parts", sh.Seq)
		}
	}
	return ""
}

// takeUp makes a part pending as its rolled frame and those behind it did.
func (r *restorer) takeUp(f Rolled) {
	st, n := r.st, f.Part.Number
	unknown := slices.ContainsFunc(f.Shares, func(sh Share) bool { return st.chunks[sh.Seq] == nil })
	f.apply(st, log.Location{})
	for _, s := range st.strays[n] {
		s.apply(st, log.Location{})
	}
	st.odd = nil // such as that chunks aren't live: the part is held for it
	r.hidden.found(f)
	p := st.parts[n]
	if p == nil {
		r.report.damage("%s, part %d with %d records of bucket %q, wasn't named any more: it is published", f.Part.Staged, n, f.Part.Records, f.Part.Bucket)
		return
	}
	if p.Held == "" && len(p.Finals) == 0 && unknown {
		r.hold(p)
	}
	state := "it is pending again"
	if p.Held != "" {
		state = "it is held"
	}
	r.report.damage("%s, part %d with %d records of bucket %q, wasn't named any more: %s", p.Staged, n, p.Records, p.Bucket, state)
}

func (r *restorer) hold(p *Part) {
	p.Held = fmt.Sprintf("damage of the journal hides whether it was published: look for %s and for names like it with a higher number, "+
		"`publish` it if its %d records are nowhere, and take it for `done` otherwise", p.final(), p.Records)
}

// doubtParts holds the parts that may have been published.
func (r *restorer) doubtParts() {
	for _, n := range sortedKeys(r.st.parts) {
		p := r.st.parts[n]
		if p.Held != "" || len(p.Finals) > 0 || !r.hidden.may(renamed(p)...) {
			continue
		}
		if _, ok := p.Uploaded(); ok {
			p.Finals = append(p.Finals, p.final()) // where it is then is found out
			continue
		}
		r.hold(p)
		r.report.damage("part %d with %d records of bucket %q is held: %s", n, p.Records, p.Bucket, p.Held)
	}
}

// doubtChunks holds the chunks of which records may have been published that the
// journal doesn't tell of.
func (r *restorer) doubtChunks() {
	n := 0
	for _, seq := range sortedKeys(r.st.chunks) {
		at, known := r.accepted[seq]
		if c := r.st.chunks[seq]; !r.unreachable(c) && r.hidden.rolledBehind(at, known) {
			c.doubtful = true
			n++
		}
	}
	if n > 0 {
		r.report.damage("%d chunks are held: what can't be read may have said that records of them were published", n)
	}
}

// unreachable reports whether a chunk's segment is gone or too short.
func (l *loader) unreachable(c *chunk) bool {
	return c.loc.Offset+c.loc.Size() > l.log.Info(c.loc.Segment).Size
}
