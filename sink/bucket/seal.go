package bucket

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
	"github.com/out-hdfs/out_hdfs/sink/retry"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

const (
	// sealers is how many rolled parts are synced at a time: one waits for the
	// disk while another ends its file.
	sealers = 2
	// maxRolled is how many parts wait to be sealed at most, those under way
	// among them.
	maxRolled = 32
)

// sealer is the queue of the sealers, who make rolled parts pending: the staged
// file is ended and synced, its folder synced, and the journal told. Until then
// the part's records are owed.
type sealer struct {
	run.Notice
	lock   sync.Mutex
	parts  []*part
	rolled map[uint64]InProgress // those that wait and those under way
	held   int64                 // bytes of memory that they hold
}

// push takes a part over, once it makes no more than most and all together hold
// no more than limit bytes, or it is alone, or ctx has ended.
func (l *sealer) push(ctx context.Context, p *part, most int, limit int64) {
	l.WaitFor(ctx, func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		return len(l.rolled) == 0 || len(l.rolled) < most && l.held+p.counted <= limit
	})
	was := p.describe()
	l.lock.Lock()
	l.parts = append(l.parts, p)
	l.rolled[p.number] = was
	l.held += p.counted
	l.lock.Unlock()
	l.Change()
}

func (l *sealer) take(ctx context.Context) (p *part) {
	l.WaitFor(ctx, func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		if len(l.parts) == 0 {
			return false
		}
		p, l.parts = l.parts[0], l.parts[1:]
		return true
	})
	return p
}

func (l *sealer) done(p *part) {
	l.lock.Lock()
	delete(l.rolled, p.number)
	l.held -= p.counted
	l.lock.Unlock()
	l.Change()
}

func (l *sealer) idle() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.rolled) == 0
}

func (l *sealer) closeFiles() {
	for _, p := range l.parts {
		_ = p.file.Close()
	}
}

// seal is a sealer's goroutine.
func (s *Stage) seal(ctx context.Context) {
	for ctx.Err() == nil {
		p := s.sealer.take(ctx)
		if p == nil {
			return
		}
		if panicked := run.Safely(func() { s.sealPart(ctx, p) }); panicked != "" {
			s.cfg.Log.Error("bug: a panic while a part was sealed; please report this", "part", p.number, "panic", panicked)
			if !s.handOver(p) && ctx.Err() == nil {
				s.rebuild(p, errors.New(panicked))
			}
		}
		s.sealer.done(p)
	}
}

func (s *Stage) sealPart(ctx context.Context, p *part) {
	err := s.makeWhole(ctx, p)
	if ctx.Err() != nil {
		_ = p.file.Close()
		return
	}
	if err != nil {
		s.rebuild(p, err)
		return
	}
	if after, was := s.disk.End(); was {
		s.cfg.Log.Info("parts can be finished again", "after", after)
	}
	f := journal.Rolled{Part: s.pendingPart(p)}
	for _, sh := range p.shares {
		f.Shares = append(f.Shares, sh.Share)
	}
	if s.journal.Record(ctx, f) && s.handOver(p) {
		s.cfg.Log.Debug("a part is pending", "bucket", p.bucket, "part", p.number, "records", p.records,
			"bytes", f.Part.Length, "rolled_by", p.reason.String())
	}
}

// handOver hands the part on if the journal knows it.
func (s *Stage) handOver(p *part) bool {
	known, ok := s.journal.Part(p.number)
	if ok {
		s.down.Add(known)
	}
	return ok
}

// makeWhole makes the staged file whole and durable. An error means that it
// can't be trusted; a *partfile.Error that the format is why.
func (s *Stage) makeWhole(ctx context.Context, p *part) error {
	if err := p.end(); err != nil {
		return err
	}
	if err := s.flush(ctx, p); err != nil {
		return err
	}
	return s.insistOnFiles(ctx, p.file.MakeDurable)
}

// insistOnFiles repeats what failed for want of a file that may be opened, until
// that is no longer why it fails or ctx ends.
func (s *Stage) insistOnFiles(ctx context.Context, do func() error) error {
	var b retry.Backoff
	for {
		err := do()
		if !openfiles.Exhausted(err) || ctx.Err() != nil {
			return err
		}
		if b.Failures() == 0 {
			s.cfg.Log.Error("a rolled part can't be synced; trying again", "state_dir", s.cfg.StateDir, "error", err,
				"do", openfiles.Advice(err, "make room on the disk, or check it"))
		}
		run.Sleep(ctx, b.Next())
	}
}

// flush writes what the file has in memory until that succeeds or ctx ends: a
// failed write can be repeated, and a failed sync can't.
func (s *Stage) flush(ctx context.Context, p *part) error {
	var b retry.Backoff
	for {
		err := p.file.Flush()
		if err == nil {
			return nil
		}
		if b.Failures() == 0 {
			s.cfg.Log.Error("a rolled part can't be written; trying again", "state_dir", s.cfg.StateDir, "error", err,
				"do", "make room on the disk, or check it")
		}
		if run.Sleep(ctx, b.Next()); ctx.Err() != nil {
			return err
		}
	}
}

// pendingPart is the part as the journal remembers it.
func (s *Stage) pendingPart(p *part) journal.Part {
	staged, out := p.file.Staged(), s.cfg.Part
	out.Number, out.Bucket, out.Suffix = p.number, p.bucket, p.suffix
	out.Staged, out.Length, out.CRC = staged.Name, staged.Length, staged.CRC
	out.Records, out.First, out.Rolled = p.records, p.first, time.Now()
	return out
}
