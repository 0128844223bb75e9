package sink

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// recover takes up what the last process left: in-progress parts are dropped,
// pending ones are queued where their last frame says they are, and chunks
// with records in no rolled part are decoded again.
func (s *Sink) recover() error {
	s.memory.limit = s.cfg.MemoryLimit / 4
	s.memory.encoders = s.cfg.MemoryLimit / 2
	if err := errors.Join(s.disk.Mkdir(stagedDir), s.disk.SyncDir(".")); err != nil {
		return fmt.Errorf("make the staging directory: %w", err)
	}
	keep := map[string]bool{}
	for _, p := range s.journal.Parts() {
		keep[p.Staged] = true
		s.staged.Add(p.Length)
		s.upload.addPart(p)
		if p.Held != "" {
			s.log.Error("a part is held", "part", p.Number, "bucket", p.Bucket, "why", p.Held,
				"do", fmt.Sprintf("`out-hdfs resolve --state-dir %s part %d publish` or `… done`", s.cfg.StateDir, p.Number))
		}
	}
	if err := s.dropInProgress(keep); err != nil {
		return err
	}
	chunks, suspects := s.owed()
	s.queue.push(chunks...)
	s.queueLater("suspects", suspectsAfter, 0, suspects)
	return nil
}

// suspectsAfter is how long a process lives before it decodes chunks that one
// before it died over, unless it is drained before. One that is killed again and again for other reasons,
// soon after each start, would otherwise die three times over the same chunk
// through no fault of the chunk's.
const suspectsAfter = 10 * time.Second

// dropInProgress removes staged files that no pending part names. The staging
// directory holds nothing but this instance's files.
func (s *Sink) dropInProgress(keep map[string]bool) error {
	names, err := s.disk.List(stagedDir)
	if err != nil {
		return fmt.Errorf("list the staging directory: %w", err)
	}
	for _, n := range names {
		name := path.Join(stagedDir, n)
		if keep[name] || strings.Trim(n, "0123456789") != "" {
			continue
		}
		if err := s.disk.Remove(name); err != nil {
			return fmt.Errorf("remove an unfinished part's staged file: %w", err)
		}
	}
	return nil
}

// owed are the chunks to be decoded again. Those that a process died over come
// later and one by one, so that they hinder no other. One that three in a row
// died over is held: Resolve alone queues it.
func (s *Sink) owed() (first, later []item) {
	for _, c := range s.journal.Chunks() {
		it := item{seq: c.Seq, size: c.Length, alone: c.Deaths > 0}
		switch {
		case c.Deaths >= maxDeaths:
			s.log.Error("a chunk is held: the process died three times in a row while decoding it",
				"chunk", c.Seq, "bytes", c.Length, "do", fmt.Sprintf(
					"`out-hdfs resolve --state-dir %s chunk %d dead-letter` or `… decode`", s.cfg.StateDir, c.Seq))
		case it.alone:
			later = append(later, it)
		default:
			first = append(first, it)
		}
	}
	return first, later
}

// Resolve ends what is held, as an operator decided: a part with PublishAgain
// or AcceptDone, a chunk with DecodeAgain or DeadLetter.
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
			s.upload.addPart(p)
		}
	case journal.AcceptDone:
		s.upload.forget(before)
		s.removeStaged(before.Staged, before.Length)
	case journal.DecodeAgain, journal.DeadLetter:
		s.queue.push(item{seq: r.Seq, alone: true})
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
	case journal.DecodeAgain, journal.DeadLetter:
		c, ok := j.Chunk(r.Seq)
		if !ok {
			return fmt.Errorf("there is no unfinished chunk %d", r.Seq)
		}
		if c.Deaths < maxDeaths {
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
