package sink

import (
	"context"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/bucket"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
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
	Ledger        LedgerStatus    `json:"ledger"`
	// Rolls is how many parts were rolled since the start, by reason.
	Rolls map[string]uint64 `json:"rolls,omitempty"`
}

// FinishedStatus counts what the instance ever published.
type FinishedStatus struct {
	Parts   uint64 `json:"parts"`
	Records uint64 `json:"records"`
	Bytes   uint64 `json:"bytes"`
}

// LedgerStatus accounts for everything that was ever accepted. Of a chunk of which
// no record is in a rolled part yet the records aren't known: it is among the
// unfinished chunks. Of all others
//
//	records = published + pending + owed + lost
//
// and the dead letters are among those published and pending.
type LedgerStatus struct {
	Chunks      uint64 `json:"chunks"`
	EmptyChunks uint64 `json:"empty_chunks,omitempty"` // that held no record
	LostChunks  uint64 `json:"lost_chunks,omitempty"`  // that damage took, with records in no rolled part

	Records     uint64 `json:"records"`
	Published   uint64 `json:"published"`
	Pending     uint64 `json:"pending"` // in rolled parts that aren't finished
	Owed        uint64 `json:"owed"`    // in no rolled part yet
	Lost        uint64 `json:"lost,omitempty"`
	DeadLetters uint64 `json:"dead_letters,omitempty"`
	// Unbalanced is what isn't accounted for: a bug, to be reported.
	Unbalanced int64 `json:"unbalanced,omitempty"`
}

func ledgerStatus(j *journal.Journal) LedgerStatus {
	l := j.Ledger()
	return LedgerStatus{
		Chunks: l.Chunks, EmptyChunks: l.EmptyOnes, LostChunks: l.LostChunks,
		Records: l.Records, Published: l.Published, Pending: l.Pending, Owed: l.Owed, Lost: l.Lost, DeadLetters: l.Letters,
		Unbalanced: int64(l.Records - l.Published - l.Pending - l.Owed - l.Lost),
	}
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
	// A part goes from the applier to the sealers to the journal: looked for in
	// that order, none is missed, and one that moved meanwhile counts where it
	// was seen last.
	progress := s.partStatus("in-progress", s.buckets.InProgress(ctx))
	rolled := s.partStatus("rolling", s.buckets.Rolled())
	st := JournalStatus(s.journal)
	st.StateDir, st.Target, st.Running = s.cfg.StateDir, s.cfg.Target+s.cfg.Base, true
	st.StagedBytes, st.StateLimit = s.staging.Bytes(), s.cfg.StateLimit
	st.Parts = mergeStatus(progress, rolled, st.Parts)
	st.Rolls = s.buckets.Rolls()
	for _, p := range s.commit.Paused() {
		st.Troubles = append(st.Troubles, TroubleStatus{
			Target: p.Target, Bucket: p.Bucket, Part: p.Part, Since: p.Since, Until: p.Until, Why: p.Why.Error(),
		})
	}
	return st
}

// Published counts what was published since Open, from its first moment on.
func (s *Sink) Published() FinishedStatus {
	now := s.journal.Totals()
	return FinishedStatus{
		Parts: now.Parts - s.before.Parts, Records: now.Records - s.before.Records, Bytes: now.Bytes - s.before.Bytes,
	}
}

func (s *Sink) partStatus(state string, parts []bucket.InProgress) []PartStatus {
	out := make([]PartStatus, 0, len(parts))
	for _, p := range parts {
		out = append(out, PartStatus{
			Number: p.Number, State: state, Target: s.cfg.Target + s.cfg.Base, Bucket: p.Bucket,
			Bytes: p.Bytes, Records: p.Records, Since: p.Since,
		})
	}
	return out
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
		Finished: FinishedStatus(j.Totals()), Ledger: ledgerStatus(j), Parts: []PartStatus{},
	}
	older := func(t time.Time) {
		if st.Oldest == nil || t.Before(*st.Oldest) {
			st.Oldest = &t
		}
	}
	for _, c := range j.Chunks() {
		st.UnfinishedChunks++
		if chunk.Held(c) {
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
	_, uploaded := p.Uploaded()
	switch {
	case p.Held != "":
		out.State = "held"
	case len(p.Finals) > 0:
		out.State = "renaming"
	case uploaded:
		out.State = "uploaded"
	}
	return out
}
