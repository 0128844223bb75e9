package sink

import (
	"fmt"

	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// Resolve ends what is held, as an operator decided: a part with PublishAgain
// or AcceptDone, a chunk with DecodeAgain, DeadLetter or TakeForPublished.
func (s *Sink) Resolve(r journal.Resolved) error {
	s.resolving <- struct{}{}
	defer func() { <-s.resolving }()
	if err := checkResolution(s.journal, r); err != nil {
		return err
	}
	before, _ := s.journal.Part(r.Part)
	if err := s.journal.Append(r); err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	switch r.How {
	case journal.PublishAgain:
		if p, ok := s.journal.Part(r.Part); ok {
			s.commit.Add(p)
		}
	case journal.AcceptDone:
		s.commit.Forget(before)
	case journal.DecodeAgain, journal.DeadLetter:
		s.intake.Decode(r.Seq)
	}
	return nil
}

// checkResolution refuses what would end something that isn't held.
func checkResolution(j *journal.Journal, r journal.Resolved) error {
	switch r.How {
	case journal.PublishAgain, journal.AcceptDone:
		p, ok := j.Part(r.Part)
		if !ok {
			return fmt.Errorf("there is no pending part %d", r.Part)
		}
		if p.Held == "" {
			return fmt.Errorf("part %d isn't held: it is published by itself", r.Part)
		}
	case journal.DecodeAgain, journal.DeadLetter, journal.TakeForPublished:
		c, ok := j.Chunk(r.Seq)
		if !ok {
			return fmt.Errorf("there is no unfinished chunk %d", r.Seq)
		}
		if !chunk.Held(c) {
			return fmt.Errorf("chunk %d isn't held: it is decoded by itself", r.Seq)
		}
	default:
		return fmt.Errorf("unknown resolution %d", r.How)
	}
	return nil
}

// ResolveStopped does what Resolve does, on the journal of a sink that doesn't
// run. The next start acts on it.
func ResolveStopped(j *journal.Journal, r journal.Resolved) error {
	if err := checkResolution(j, r); err != nil {
		return err
	}
	return j.Append(r)
}
