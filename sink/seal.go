package sink

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// sealers is how many rolled parts are synced at a time: one waits for the
// disk while another ends its file.
const sealers = 2

// sealer makes rolled parts pending: the staged file is ended and synced, its
// folder synced, and the journal told. Until then the part's records are owed.
type sealer struct {
	notice
	lock  sync.Mutex
	parts []*part
	busy  int
}

func (l *sealer) start(s *Sink) {
	for range sealers {
		s.goRun("sealer", func(ctx context.Context) { l.run(ctx, s) })
	}
}

func (l *sealer) push(p *part) {
	l.lock.Lock()
	l.parts = append(l.parts, p)
	l.lock.Unlock()
	l.change()
}

func (l *sealer) take(ctx context.Context) (p *part) {
	l.waitFor(ctx, func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		if len(l.parts) == 0 {
			return false
		}
		p, l.parts = l.parts[0], l.parts[1:]
		l.busy++
		return true
	})
	return p
}

func (l *sealer) waitIdle(ctx context.Context) bool {
	return l.waitFor(ctx, func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		return len(l.parts) == 0 && l.busy == 0
	})
}

// closeFiles closes the staged files that a stop left unsealed.
func (l *sealer) closeFiles() {
	for _, p := range l.parts {
		_ = p.file.file.Close()
	}
}

func (l *sealer) run(ctx context.Context, s *Sink) {
	for ctx.Err() == nil {
		p := l.take(ctx)
		if p == nil {
			return
		}
		l.seal(ctx, s, p)
		l.lock.Lock()
		l.busy--
		l.lock.Unlock()
		l.change()
	}
}

func (l *sealer) seal(ctx context.Context, s *Sink, p *part) {
	var err error
	if panicked := safely(func() { err = s.end(ctx, p) }); panicked != "" {
		err = fmt.Errorf("%s", panicked)
	}
	if ctx.Err() != nil {
		_ = p.file.file.Close()
		return
	}
	if err != nil {
		s.rebuild(ctx, p, err)
		return
	}
	if s.append(ctx, journal.Rolled{Part: s.describe(p), Shares: p.shares}) {
		s.log.Debug("a part is pending", "bucket", p.bucket, "part", p.number, "records", p.records, "bytes", p.file.at)
		if pending, ok := s.journal.Part(p.number); ok {
			s.upload.addPart(pending)
		}
	}
}

// end makes the staged file whole and durable. An error means that it can't be
// trusted.
func (s *Sink) end(ctx context.Context, p *part) error {
	if p.writer != nil {
		if err := p.writer.Close(); err != nil {
			return fmt.Errorf("end the part: %w", err)
		}
	}
	var b backoff
	for {
		// A failed write leaves its bytes in memory: it can be repeated. A
		// failed sync can't.
		err := p.file.flush()
		if err == nil {
			break
		}
		if b.failures == 0 {
			s.log.Error("a rolled part can't be written; trying again", "state_dir", s.cfg.StateDir, "error", err,
				"do", "make room on the disk, or check it")
		}
		if sleep(ctx, b.next()); ctx.Err() != nil {
			return err
		}
	}
	if err := p.file.file.Sync(); err != nil {
		return fmt.Errorf("sync staged file: %w", err)
	}
	if err := p.file.file.Close(); err != nil {
		return fmt.Errorf("close staged file: %w", err)
	}
	if err := s.cfg.Disk.SyncDir(stagedDir); err != nil {
		return fmt.Errorf("sync the staging directory: %w", err)
	}
	return nil
}

// describe is the part as the journal remembers it.
func (s *Sink) describe(p *part) journal.Part {
	return journal.Part{
		Number: p.number, Staged: p.file.name, Length: p.file.at, CRC: p.file.crc, Records: p.records,
		First: p.first, Rolled: time.Now(),
		Target: s.cfg.Target, Base: s.cfg.Base, Bucket: p.bucket,
		Prefix: s.cfg.PartPrefix + "-" + s.journal.WriterID(), Suffix: p.suffix,
		FileMode: s.cfg.Put.FileMode, DirMode: s.cfg.Put.DirMode,
		Replication: s.cfg.Put.Replication, BlockSize: s.cfg.Put.BlockSize,
	}
}
