package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// Answer is what Fluent Bit is told about a chunk.
type Answer int

const (
	// OK: the chunk is durable and will be published exactly once.
	OK Answer = iota
	// Retry: the chunk could not be made durable; nothing of it is kept.
	Retry
)

// Sink is one open instance. Flush may be called from any number of goroutines
// at a time.
type Sink struct {
	cfg     Config
	log     *slog.Logger
	journal *journal.Journal

	queue    queue
	memory   memory
	staged   atomic.Int64 // bytes in the staging directory
	dispatch dispatcher
	apply    applier
	seal     sealer
	upload   uploader
	admit    admission
	attempts attempts

	closing atomic.Bool
	stop    context.CancelFunc // ends every goroutine
	ctx     context.Context    // of the goroutines; passed to them, kept for Close
	done    sync.WaitGroup
}

// Open recovers the state and starts the sink. It waits for the local disk
// only, never for the target.
func Open(cfg Config) (*Sink, error) {
	j, report, err := journal.Open(journal.Options{
		Disk: cfg.Disk, Log: cfg.Log, Owner: cfg.Owner,
		WriterID: cfg.WriterID, DefaultWriterID: cfg.DefaultWriterID, SegmentSize: cfg.SegmentSize,
	})
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w", cfg.StateDir, err)
	}
	journal.LogReport(cfg.Log, report)
	s := &Sink{cfg: cfg, log: cfg.Log, journal: j}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.recover(); err != nil {
		s.stop()
		return nil, errors.Join(fmt.Errorf("state directory %s: %w", cfg.StateDir, err), j.Close())
	}
	s.start()
	return s, nil
}

func (s *Sink) start() {
	s.dispatch.start(s)
	s.apply.start(s)
	s.seal.start(s)
	s.upload.start(s)
	s.goRun("janitor", s.janitor)
}

// goRun starts a goroutine of the sink. A panic in it is a bug: it is logged,
// and the goroutine begins anew, since what it owes is in the journal.
func (s *Sink) goRun(name string, run func(ctx context.Context)) {
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		for !s.runOnce(name, run) && s.ctx.Err() == nil {
			sleep(s.ctx, time.Second)
		}
	}()
}

func (s *Sink) runOnce(name string, run func(ctx context.Context)) (ended bool) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("bug: a goroutine panicked and begins anew; please report this",
				"goroutine", name, "panic", fmt.Sprint(p), "stack", stack())
		}
	}()
	run(s.ctx)
	return true
}

// FlushOptions say how a Flush may behave.
type FlushOptions struct {
	// NoWait is set on the engine's own thread, where waiting would stop the
	// whole agent: a full state directory is then answered at once.
	NoWait bool
}

// Flush makes a chunk durable and answers what to tell Fluent Bit. data is
// read until it returns and not kept. file is the chunk's own file, where that
// is known.
func (s *Sink) Flush(tag string, data []byte, file chunkfile.File, o FlushOptions) Answer {
	if s.closing.Load() {
		return Retry
	}
	arrival := time.Now()
	origin := journal.Origin{}
	if file.Known() {
		origin = journal.Origin{Dir: file.Dir, Name: file.Name, Length: uint32(len(data)), CRC: journal.CRC(data)}
	}
	if !s.admit.wait(s, int64(len(data)), o.NoWait) {
		return Retry
	}
	var kept *buffer
	a, err := s.journal.AppendChunk(tag, arrival, origin, data, func() { kept = s.memory.keep(data) })
	if err != nil {
		s.memory.release(kept)
		s.admit.failed(s, err)
		return Retry
	}
	s.admit.ok(s)
	if a.Known {
		s.memory.release(kept)
		s.log.Debug("a chunk came again and is known", "file", file.Path())
		return OK
	}
	s.queue.push(item{seq: a.Seq, size: int64(len(data)), tag: tag, arrival: arrival, payload: kept})
	return OK
}

// WriterID is the instance's name in its parts' names.
func (s *Sink) WriterID() string { return s.journal.WriterID() }

// Drain publishes everything that was accepted so far, and rolls what is in
// progress for that. It returns the end of ctx if that came first.
func (s *Sink) Drain(ctx context.Context) error {
	if !s.drain(ctx) {
		return fmt.Errorf("drain: %w", context.Cause(ctx))
	}
	return nil
}

// Close stops the sink: within exit_timeout it publishes all it can, and the
// next start goes on with the rest. When it returns, no operation on the state
// directory or the target begins any more, and the lock is released.
func (s *Sink) Close() error {
	if s.closing.Swap(true) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ExitTimeout)
	defer cancel()
	drained := s.drain(ctx)
	s.stop()
	idle := make(chan struct{})
	go func() { // ends when the last goroutine does, at the latest when a hung call returns
		s.done.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		s.apply.closeFiles()
		s.seal.closeFiles()
	case <-time.After(hungCall):
		s.log.Warn("a call to the target hangs; leaving without it", "target", s.cfg.Target)
	}
	if !drained {
		left := s.journal.Parts()
		s.log.Warn("exit_timeout passed before everything was published; the next start goes on",
			"exit_timeout", s.cfg.ExitTimeout, "chunks", len(s.journal.Chunks()), "pending_parts", len(left))
	}
	return errors.Join(s.journal.Close(), s.upload.close())
}

// hungCall is how long Close waits for a call that doesn't heed its context,
// such as one on a dead NFS mount. Nothing begins after it: the journal is
// closed, and each step of a commit begins with a frame.
const hungCall = 5 * time.Second

// drain publishes everything, until ctx ends. It reports whether it did.
func (s *Sink) drain(ctx context.Context) bool {
	for s.queue.waitIdle(ctx) && s.apply.rollAll(ctx) && s.seal.waitIdle(ctx) {
		if s.queue.idle() { // else a part is being built anew
			return s.upload.waitIdle(ctx)
		}
	}
	return false
}
