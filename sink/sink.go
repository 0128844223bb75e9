package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/disk"
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
	gate    gate
	disk    disk.Disk // of staging; passes the gate

	queue    queue
	memory   memory
	staged   atomic.Int64 // bytes of staged files, those not written yet included
	dispatch dispatcher
	apply    applier
	seal     sealer
	upload   uploader
	admit    admission
	attempts attempts
	broken   sharedTrouble // of the journal
	suspects suspects

	resolving chan struct{} // capacity 1: one Resolve at a time, so that each sees the one before

	draining chan struct{} // closed when the sink is drained for the first time
	hurry    sync.Once     // closes it

	closing  atomic.Bool
	ended    chan struct{}      // closed when Close is through
	closeErr error              // valid then
	stop     context.CancelFunc // ends every goroutine
	ctx      context.Context    // of the goroutines; passed to them, kept for Close

	// local are the goroutines that wait for the local disk only, remote those
	// that may wait for a target.
	local, remote sync.WaitGroup
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
	s := &Sink{cfg: cfg, log: cfg.Log, journal: j, ended: make(chan struct{}), resolving: make(chan struct{}, 1), draining: make(chan struct{})}
	s.disk = &gatedDisk{cfg.Disk, &s.gate}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.upload.init(s)
	s.seal.init()
	s.apply.init(s)
	s.dispatch.init(s)
	if err := s.recover(); err != nil {
		s.stop()
		return nil, errors.Join(fmt.Errorf("state directory %s: %w", cfg.StateDir, err), j.Close())
	}
	s.start()
	return s, nil
}

func (s *Sink) start() {
	s.upload.start()
	s.seal.start(s)
	s.apply.start()
	s.dispatch.start(s)
	s.goRun(&s.local, "origins", s.watchOrigins)
	s.goRun(&s.remote, "leftovers", s.watchLeftovers)
}

// goRun starts a goroutine of the sink. A panic in it is a bug: it is logged,
// and the goroutine begins anew. Each keeps what it has in hand where its next
// life, or the next start, finds it.
func (s *Sink) goRun(group *sync.WaitGroup, name string, run func(ctx context.Context)) {
	group.Go(func() {
		for !s.runOnce(name, run) && s.ctx.Err() == nil {
			sleep(s.ctx, time.Second)
		}
	})
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
		origin = journal.Origin{Dir: path.Dir(file.Path()), Name: file.Name, Length: uint32(len(data)), CRC: journal.CRC(data)}
	}
	if !s.admit.wait(s, int64(len(data)), o.NoWait) {
		return Retry
	}
	defer s.admit.leave(int64(len(data)))
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
