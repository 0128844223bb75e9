package bucket

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
	"github.com/out-hdfs/out_hdfs/sink/partfile"
	"github.com/out-hdfs/out_hdfs/sink/retry"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// take applies a job. Whatever of it could not be applied is decoded again:
// each share is in a part whole, or not at all and owed. So no panic leaves half
// a share in a part, nor loses one.
func (s *Stage) take(ctx context.Context, j *chunk.Job) {
	defer s.up.Finish(j)
	if j.Err != nil {
		return
	}
	var failure error
	if panicked := run.Safely(func() { failure = s.applyShares(ctx, j) }); panicked != "" {
		failure = errors.New(panicked)
		s.cfg.Log.Error("bug: a panic while a chunk was applied; its records are decoded again; please report this",
			"chunk", j.Seq, "panic", panicked)
	}
	if ctx.Err() != nil {
		return
	}
	if left := j.Unapplied(); left != nil {
		s.up.Again(chunk.RetryAfter, failure, chunk.Owed{Seq: j.Seq, Size: j.Size, Only: left, Alone: j.Alone, Failed: j.Failed})
	}
}

// applyShares writes the job's shares, its letters last, and asks the policy.
// The error is that of the last share that could not be written.
func (s *Stage) applyShares(ctx context.Context, j *chunk.Job) (failure error) {
	for _, sh := range j.Shares {
		if err := s.addShare(ctx, j, sh); err != nil {
			failure = err
		}
	}
	if j.MakeLetterShare(s.cfg.Letters); j.LetterShare != nil {
		if err := s.addShare(ctx, j, j.LetterShare); err != nil {
			failure = err
		}
	}
	if j.Records == 0 {
		s.journal.Record(ctx, journal.Void{Seq: j.Seq})
		return failure
	}
	for _, sh := range j.Shares {
		s.afterChunk(ctx, sh.Bucket)
	}
	if j.LetterShare != nil {
		s.afterChunk(ctx, j.LetterShare.Bucket)
	}
	return failure
}

// addShare writes a share to its bucket's part, unless ctx ends before that
// succeeds. On an error the part is dropped and the share isn't applied.
func (s *Stage) addShare(ctx context.Context, j *chunk.Job, sh *chunk.Share) error {
	if sh.Encoded && sh.Records.Count() == 0 {
		sh.Applied = true
		return nil
	}
	p := s.open(ctx, sh)
	if p == nil {
		return nil
	}
	if err := p.add(j, sh); err != nil {
		s.remove(p)
		s.rebuild(p, err)
		return err
	}
	if p.file.Err() != nil && !s.insist(ctx, "write an in-progress part", p, p.file.Flush) {
		return nil
	}
	s.buffered -= p.counted
	p.counted = p.buffered()
	s.buffered += p.counted
	s.keepLimits(ctx)
	if s.parts[sh.Bucket] == p {
		s.afterShare(ctx, p)
	}
	return nil
}

// open returns the bucket's in-progress part, creating it until that succeeds.
func (s *Stage) open(ctx context.Context, sh *chunk.Share) *part {
	if p := s.parts[sh.Bucket]; p != nil {
		return p
	}
	var p *part
	s.insist(ctx, "create an in-progress part", nil, func() (err error) {
		p, err = s.create(sh)
		return err
	})
	if p != nil {
		s.parts[sh.Bucket] = p
	}
	return p
}

func (s *Stage) create(sh *chunk.Share) (*part, error) {
	n := s.journal.NextPart()
	file, err := s.staging.Create(n)
	if err != nil {
		return nil, err
	}
	if sh.Letter {
		return &part{number: n, bucket: sh.Bucket, file: file, suffix: s.cfg.Letters.Suffix()}, nil
	}
	p := &part{number: n, bucket: sh.Bucket, file: file, suffix: s.cfg.Part.Suffix}
	p.writer, err = s.cfg.Format.Begin(file, n)
	if err != nil {
		s.staging.Drop(file)
		return nil, err
	}
	return p, nil
}

// insist does something on the local disk until it succeeds, or ctx ends. On a
// full disk it rolls what else is in progress, which makes room once it is
// published. Where no file can be opened any more it rolls the half of it that
// was written least recently, which closes as many. The pipeline waits
// meanwhile, and flushes don't.
func (s *Stage) insist(ctx context.Context, what string, except *part, do func() error) bool {
	var b retry.Backoff
	for ctx.Err() == nil {
		err := do()
		if err == nil {
			if b.Failures() > 0 {
				s.cfg.Log.Info("the state directory can be written again", "state_dir", s.cfg.StateDir)
			}
			return true
		}
		if b.Failures() == 0 {
			s.cfg.Log.Error("the state directory can't be written; trying again", "to", what,
				"state_dir", s.cfg.StateDir, "error", err, "do", openfiles.Advice(err, "make room on the disk, or check it"))
		}
		switch {
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			s.rollAllBut(ctx, except, rolling.DiskFull)
		case openfiles.Exhausted(err):
			for range (len(s.parts) + 1) / 2 {
				s.rollLeastRecent(ctx, rolling.OpenFiles)
			}
		}
		run.Sleep(ctx, b.Next())
	}
	return false
}

// rebuild drops a part that can't be finished and gives its records back: those
// alone, since the others of their chunks are in other parts. If the format
// could not finish it, that counts against its records. If it was the disk, that
// is told once, and the records wait the longer the longer that goes on.
func (s *Stage) rebuild(p *part, err error) {
	const text = "an in-progress part can't be finished and is built anew"
	var format *partfile.Error
	delay := chunk.RetryAfter
	if errors.As(err, &format) {
		s.cfg.Log.Error(text, "bucket", p.bucket, "part", p.number, "records", p.records, "error", err,
			"do", "report this; records that can't be encoded go to the dead letters by themselves")
	} else {
		var first bool
		if first, delay = s.disk.Fail(err, p.last); first {
			s.cfg.Log.Error(text, "bucket", p.bucket, "part", p.number, "records", p.records, "state_dir", s.cfg.StateDir,
				"error", err, "do", openfiles.Advice(err, "make room on the disk, or check it")+"; it is tried again by itself")
		}
	}
	s.staging.Drop(p.file)
	owed := make([]chunk.Owed, 0, len(p.shares))
	for _, sh := range p.shares {
		only := journal.CoverageOf(sh.Runs)
		owed = append(owed, chunk.Owed{Seq: sh.Seq, Only: &only, Failed: sh.failed})
	}
	s.up.Again(delay, err, owed...)
}

// write writes a share to the part's file.
func (p *part) write(j *chunk.Job, sh *chunk.Share) (err error) {
	if p.writer == nil {
		_, err = p.file.Write(sh.Block)
		return err
	}
	if sh.Encoded {
		err = p.writer.(codec.BlockWriter).WriteBlock(sh.Block, int(sh.Records.Count()))
		if !errors.Is(err, codec.ErrOtherSchema) {
			return err
		}
		sh.DropBlock()
	}
	rejects, err := p.writer.Write(&sh.Batch)
	if err != nil {
		return err
	}
	sh.Account(rejects)
	j.Reject(rejects)
	return nil
}

// formatFailed is the error of a format over a chunk's share.
func formatFailed(seq uint64, err error) error {
	return &partfile.Error{Err: fmt.Errorf("encode a share of chunk %d: %w", seq, err)}
}
