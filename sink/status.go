package sink

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// Status is what an instance has in hand, for operators.
type Status struct {
	WriterID string    `json:"writer_id"`
	StateDir string    `json:"state_dir"`
	Target   string    `json:"target"` // of new parts; "" if no agent runs
	Running  bool      `json:"running"`
	At       time.Time `json:"at"`

	JournalBytes int64 `json:"journal_bytes"`
	StagedBytes  int64 `json:"staged_bytes"`
	StateLimit   int64 `json:"state_limit,omitempty"`

	// UnfinishedChunks are chunks with records in no rolled part.
	UnfinishedChunks int        `json:"unfinished_chunks"`
	Oldest           *time.Time `json:"oldest_unfinished,omitempty"` // arrival of the oldest record not published
	HeldChunks       []uint64   `json:"held_chunks,omitempty"`

	Parts         []PartStatus    `json:"parts"`
	Troubles      []TroubleStatus `json:"troubles,omitempty"`
	LeftoverTemps int             `json:"leftover_temps,omitempty"`
	Finished      FinishedStatus  `json:"finished"`
}

// FinishedStatus counts what the instance ever published.
type FinishedStatus struct {
	Parts   uint64 `json:"parts"`
	Records uint64 `json:"records"`
	Bytes   uint64 `json:"bytes"`
}

// PartStatus is one part that isn't finished.
type PartStatus struct {
	Number  uint64    `json:"number"`
	State   string    `json:"state"` // in-progress, rolling, pending, uploaded, renaming, held
	Target  string    `json:"target"`
	Bucket  string    `json:"bucket"`
	Bytes   int64     `json:"bytes"`
	Records int64     `json:"records"`
	Since   time.Time `json:"since"` // arrival of its oldest record
	Why     string    `json:"why,omitempty"`
}

// TroubleStatus is a target, one of its buckets or one part that is backing off.
type TroubleStatus struct {
	Target string    `json:"target"`
	Bucket string    `json:"bucket,omitempty"`
	Part   uint64    `json:"part,omitempty"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"` // when it is tried again
	Why    string    `json:"why"`
}

// Status describes the sink now. In-progress parts are left out if the
// pipeline doesn't answer before ctx ends.
func (s *Sink) Status(ctx context.Context) Status {
	// A part goes from the applier to the sealer to the journal: looked for in
	// that order, none is missed, and one that moved meanwhile counts where it
	// was seen last.
	var progress []PartStatus
	if answer := make(chan []PartStatus, 1); s.apply.ask(ctx, func() { answer <- s.apply.status() }) {
		progress = <-answer
	}
	rolling := s.seal.status()
	st := JournalStatus(s.journal)
	st.StateDir, st.Target, st.Running = s.cfg.StateDir, s.cfg.Target+s.cfg.Base, true
	st.StagedBytes, st.StateLimit = s.staged.Load(), s.cfg.StateLimit
	st.Parts = mergeStatus(progress, rolling, st.Parts)
	st.Troubles = s.upload.troubles()
	return st
}

// mergeStatus joins the lists and lists each part once, as the last list that
// has it says.
func mergeStatus(lists ...[]PartStatus) []PartStatus {
	in := map[uint64]int{}
	for i, list := range lists {
		for _, p := range list {
			in[p.Number] = i
		}
	}
	out := []PartStatus{}
	for i, list := range lists {
		for _, p := range list {
			if in[p.Number] == i {
				out = append(out, p)
			}
		}
	}
	return out
}

// JournalStatus is what a journal alone can tell, whether an agent runs or not.
func JournalStatus(j *journal.Journal) Status {
	st := Status{
		WriterID: j.WriterID(), At: time.Now(), JournalBytes: j.Usage(), LeftoverTemps: len(j.Leftovers()),
		Finished: FinishedStatus(j.Totals()), Parts: []PartStatus{},
	}
	older := func(t time.Time) {
		if st.Oldest == nil || t.Before(*st.Oldest) {
			st.Oldest = &t
		}
	}
	for _, c := range j.Chunks() {
		st.UnfinishedChunks++
		if c.Deaths >= maxDeaths {
			st.HeldChunks = append(st.HeldChunks, c.Seq)
		}
		older(c.Arrival)
	}
	for _, p := range j.Parts() {
		st.Parts = append(st.Parts, pendingStatus(p))
		st.StagedBytes += p.Length
		older(p.First)
	}
	return st
}

func pendingStatus(p journal.Part) PartStatus {
	out := PartStatus{
		Number: p.Number, State: "pending", Target: p.Target + p.Base, Bucket: p.Bucket,
		Bytes: p.Length, Records: p.Records, Since: p.First, Why: p.Held,
	}
	switch {
	case p.Held != "":
		out.State = "held"
	case len(p.Finals) > 0:
		out.State = "renaming"
	case slices.ContainsFunc(p.Attempts, func(a journal.Attempt) bool { return a.State == journal.AttemptUploaded }):
		out.State = "uploaded"
	}
	return out
}

// status runs on the applier.
func (a *applier) status() []PartStatus {
	out := make([]PartStatus, 0, len(a.parts))
	for _, p := range a.parts {
		out = append(out, p.status(a.s, "in-progress"))
	}
	slices.SortFunc(out, func(x, y PartStatus) int { return strings.Compare(x.Bucket, y.Bucket) })
	return out
}

func (p *part) status(s *Sink, state string) PartStatus {
	return PartStatus{
		Number: p.number, State: state, Target: s.cfg.Target + s.cfg.Base, Bucket: p.bucket,
		Bytes: p.size(), Records: p.records, Since: p.first,
	}
}

// status describes the parts that are being sealed or wait for it, as they were
// when they were rolled.
func (l *sealer) status() []PartStatus {
	l.lock.Lock()
	defer l.lock.Unlock()
	return slices.SortedFunc(maps.Values(l.rolled), func(x, y PartStatus) int { return cmp.Compare(x.Number, y.Number) })
}

// troubles are what is backing off.
func (u *uploader) troubles() []TroubleStatus {
	u.lock.Lock()
	defer u.lock.Unlock()
	var out []TroubleStatus
	note := func(t *target, bucket string, part uint64, x *trouble) {
		if x.why != nil {
			out = append(out, TroubleStatus{Target: t.name, Bucket: bucket, Part: part, Since: x.since, Until: x.until, Why: x.why.Error()})
		}
	}
	for _, t := range u.targets {
		note(t, "", 0, &t.trouble)
		for bucket, x := range t.buckets {
			note(t, path.Clean(bucket), 0, &x.trouble)
		}
		for _, p := range t.queue {
			note(t, path.Clean(p.bucket), p.number, &p.trouble)
		}
	}
	slices.SortFunc(out, func(x, y TroubleStatus) int {
		return cmp.Or(strings.Compare(x.Target, y.Target), strings.Compare(x.Bucket, y.Bucket), cmp.Compare(x.Part, y.Part))
	})
	return out
}
