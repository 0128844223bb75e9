package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

const (
	// sealers is how many rolled parts are synced at a time: one waits for the
	// disk while another ends its file.
	sealers = 2
	// maxRolled bounds the parts that wait to be sealed, since each keeps a file
	// open and a buffer. The applier waits beyond it.
	maxRolled = 32
)

// sealer makes rolled parts pending: the staged file is ended and synced, its
// folder synced, and the journal told. Until then the part's records are owed.
type sealer struct {
	notice
	lock   sync.Mutex
	parts  []*part
	rolled map[uint64]PartStatus // those that wait and those under way
	disk   sharedTrouble         // of whoever ends a file
}

func (l *sealer) init() { l.rolled = map[uint64]PartStatus{} }

func (l *sealer) start(s *Sink) {
	for range sealers {
		s.goRun(&s.local, "sealer", func(ctx context.Context) { l.run(ctx, s) })
	}
}

// push takes a part over, once there is a place for it or ctx has ended.
func (l *sealer) push(ctx context.Context, s *Sink, p *part) {
	l.waitFor(ctx, func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		return len(l.rolled) < maxRolled
	})
	status := p.status(s, "rolling")
	l.lock.Lock()
	l.parts = append(l.parts, p)
	l.rolled[p.number] = status
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
		return true
	})
	return p
}

func (l *sealer) idle() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.rolled) == 0
}

func (l *sealer) waitIdle(ctx context.Context) bool { return l.waitFor(ctx, l.idle) }

// closeFiles closes the staged files that a stop left unsealed. It is called
// when the sealers have ended.
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
		if panicked := safely(func() { l.seal(ctx, s, p) }); panicked != "" {
			s.log.Error("bug: a panic while a part was sealed; please report this", "part", p.number, "panic", panicked)
			if !l.pending(s, p) && ctx.Err() == nil {
				s.rebuild(p, errors.New(panicked))
			}
		}
		l.lock.Lock()
		delete(l.rolled, p.number)
		l.lock.Unlock()
		l.change()
	}
}

func (l *sealer) seal(ctx context.Context, s *Sink, p *part) {
	err := s.end(ctx, p)
	if ctx.Err() != nil {
		_ = p.file.file.Close()
		return
	}
	if err != nil {
		s.rebuild(p, err)
		return
	}
	if after, was := l.disk.heal(); was {
		s.log.Info("parts can be finished again", "after", after)
	}
	f := journal.Rolled{Part: s.describe(p)}
	for _, sh := range p.shares {
		f.Shares = append(f.Shares, sh.Share)
	}
	if s.append(ctx, f) && l.pending(s, p) {
		s.log.Debug("a part is pending", "bucket", p.bucket, "part", p.number, "records", p.records, "bytes", p.file.at)
	}
}

// pending hands the part to the uploader if the journal knows it.
func (l *sealer) pending(s *Sink, p *part) bool {
	known, ok := s.journal.Part(p.number)
	if ok {
		s.upload.addPart(known)
	}
	return ok
}

// end makes the staged file whole and durable. An error means that it can't be
// trusted; a *formatError that the format is why.
func (s *Sink) end(ctx context.Context, p *part) error {
	if err := p.finish(); err != nil {
		return &formatError{err}
	}
	if err := s.flush(ctx, p.file); err != nil {
		return err
	}
	if p.file.lost != nil {
		return p.file.lost
	}
	if err := p.file.file.Sync(); err != nil {
		return fmt.Errorf("sync staged file: %w", err)
	}
	if err := p.file.file.Close(); err != nil {
		return fmt.Errorf("close staged file: %w", err)
	}
	if err := s.disk.SyncDir(stagedDir); err != nil {
		return fmt.Errorf("sync the staging directory: %w", err)
	}
	return nil
}

// finish has the format end the file.
func (p *part) finish() (err error) {
	if p.writer == nil {
		return nil
	}
	if panicked := safely(func() { err = p.writer.Close() }); panicked != "" {
		err = errors.New(panicked)
	}
	if err == nil {
		err = whole(p.writer, p.file.size(), p.records)
	}
	if err != nil {
		return fmt.Errorf("end part %d: %w", p.number, err)
	}
	return nil
}

// flush writes what the file has in memory until that succeeds or ctx ends: a
// failed write can be repeated, and a failed sync can't.
func (s *Sink) flush(ctx context.Context, f *stagedFile) error {
	var b backoff
	for {
		err := f.flush()
		if err == nil {
			return nil
		}
		if b.failures == 0 {
			s.log.Error("a rolled part can't be written; trying again", "state_dir", s.cfg.StateDir, "error", err,
				"do", "make room on the disk, or check it")
		}
		if sleep(ctx, b.next()); ctx.Err() != nil {
			return err
		}
	}
}

// describe is the part as the journal remembers it.
func (s *Sink) describe(p *part) journal.Part {
	return journal.Part{
		Number: p.number, Staged: p.file.name, Length: p.file.at, CRC: p.file.crc, Records: p.records,
		First: p.first, Rolled: time.Now(),
		Target: s.cfg.Target, Base: s.cfg.Base, Bucket: p.bucket,
		Prefix: s.cfg.PartPrefix + "-" + s.journal.WriterID(), Suffix: p.suffix,
		FileMode: s.cfg.Upload.FileMode, DirMode: s.cfg.Upload.DirMode,
		Replication: s.cfg.Upload.Replication, BlockSize: s.cfg.Upload.BlockSize,
	}
}
