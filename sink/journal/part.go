package journal

import (
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// AttemptState is how far an attempt to upload a part came.
type AttemptState uint8

const (
	// AttemptBegun: the temp may exist, with any content.
	AttemptBegun AttemptState = iota
	// AttemptUploaded: the temp is whole, and is the file that ID,
	// Length and ModTime identify.
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

// Uploaded is the attempt whose temp is whole on the target, if there is one.
func (p *Part) Uploaded() (Attempt, bool) {
	i := slices.IndexFunc(p.Attempts, Attempt.uploaded)
	if i < 0 {
		return Attempt{}, false
	}
	return p.Attempts[i], true
}

func (a Attempt) uploaded() bool { return a.State == AttemptUploaded }

func (p *Part) clone() Part {
	c := *p
	c.Attempts, c.Finals = slices.Clone(p.Attempts), slices.Clone(p.Finals)
	return c
}

// Share is what one rolled part holds of one chunk.
type Share struct {
	Seq     uint64
	Records uint32 // records of the whole chunk, an undecodable rest included
	Count   uint32 // records in the share
	Runs    []byte // Ranges.Bytes of their ordinals
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

func (f Rolled) apply(s *state, _ log.Location) {
	p := f.Part.clone()
	s.parts[p.Number] = &p
	s.nextPart = max(s.nextPart, p.Number+1)
	letters := s.letters != nil && s.letters(f.Part.Bucket)
	for _, sh := range f.Shares {
		s.cover(sh, letters)
	}
}

func decodeRolled(r *reader) Rolled {
	f := Rolled{Part: r.part()}
	for range r.count(4) {
		f.Shares = append(f.Shares, Share{Seq: r.uint(), Records: r.uint32(), Count: r.uint32(), Runs: slices.Clone(r.bytes())})
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
	p := Part{Number: r.uint(), Staged: r.string(), Length: r.int(), CRC: r.uint32(), Records: r.int()}
	p.First, p.Rolled = r.time(), r.time()
	for _, s := range []*string{&p.Target, &p.Base, &p.Bucket, &p.Prefix, &p.Suffix} {
		*s = r.string()
	}
	p.FileMode, p.DirMode = r.uint32(), r.uint32()
	p.Replication, p.BlockSize = int(r.int()), r.int()
	for range r.count(6) {
		p.Attempts = append(p.Attempts, Attempt{Temp: r.string(), State: AttemptState(r.uint8()), ID: r.string(), Length: r.int(), ModTime: r.time()})
	}
	for range r.count(1) {
		p.Finals = append(p.Finals, r.string())
	}
	p.Held = r.string()
	return p
}
