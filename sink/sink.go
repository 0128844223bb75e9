package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/bucket"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/commit"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/encode"
	"github.com/out-hdfs/out_hdfs/sink/intake"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/memory"
	"github.com/out-hdfs/out_hdfs/sink/partfile"
	"github.com/out-hdfs/out_hdfs/sink/record"
	"github.com/out-hdfs/out_hdfs/sink/run"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

// Answer is what Fluent Bit is told about a chunk.
type Answer int

const (
	// OK: the chunk is durable and will be published exactly once.
	OK Answer = iota
	// Retry: the chunk could not be made durable in time. Nothing of it is kept,
	// except of one with a file whose append the disk still holds: that may be
	// accepted yet, and is known when it comes again.
	Retry
)

// Sink is one open instance. Flush may be called from any number of goroutines
// at a time.
type Sink struct {
	cfg     Config
	log     *slog.Logger
	journal *journal.Journal
	before  journal.Totals // what earlier processes published
	staging *staging.Area

	intake  *intake.Intake
	buckets *bucket.Stage
	commit  *commit.Stage

	resolving chan struct{} // capacity 1: one Resolve at a time, so that each sees the one before

	closing  atomic.Bool
	ended    chan struct{}      // closed when Close is through
	released chan struct{}      // closed when the state directory is
	closeErr error              // valid then
	stop     context.CancelFunc // ends every goroutine
	ctx      context.Context    // of the goroutines and of flushes that wait

	// local are the goroutines that wait for the local disk only, remote those
	// that may wait for a target.
	local, remote *run.Group
}

// Open recovers the state and starts the sink. It waits for the local disk
// only, never for the target.
//
// The state directory's lock is held until every operation on the disk has come
// back, if need be after Close: see there.
func Open(cfg Config) (*Sink, error) {
	cfg.Disk = disk.LockedThroughout(cfg.Disk)
	j, report, err := journal.Open(journal.Options{
		Disk: cfg.Disk, Log: cfg.Log, Owner: cfg.Owner,
		Letters:  func(bucket string) bool { return strings.HasPrefix(bucket, LettersDir+"/") },
		WriterID: cfg.WriterID, DefaultWriterID: cfg.DefaultWriterID, SegmentSize: cfg.SegmentSize,
	})
	if err != nil {
		return nil, fmt.Errorf("state directory %s: %w", cfg.StateDir, err)
	}
	journal.LogReport(cfg.Log, report)
	if cfg.OpenFiles == nil {
		cfg.OpenFiles = func() int { return math.MaxInt }
	}
	s := &Sink{cfg: cfg, log: cfg.Log, journal: j, before: j.Totals(), ended: make(chan struct{}), released: make(chan struct{}), resolving: make(chan struct{}, 1)}
	s.staging = staging.New(cfg.Disk, cfg.StateDir, cfg.Log)
	if err := s.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("state directory %s: %w", cfg.StateDir, err), j.Close())
	}
	s.start()
	return s, nil
}

// recorded is the journal and its recorder as the stages take them.
type recorded struct {
	*journal.Journal
	*record.Recorder
}

// recover readies the staging area: what was in progress is dropped, as its
// records are owed.
func (s *Sink) recover() error {
	var pending []staging.Staged
	for _, p := range s.journal.Parts() {
		pending = append(pending, commit.Staged(p))
	}
	return s.staging.Recover(pending)
}

// start builds the stages, hands them what the last process left, and starts
// them, the last one first.
func (s *Sink) start() {
	cfg := s.cfg
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.local, s.remote = run.NewGroup(s.ctx, cfg.Log), run.NewGroup(s.ctx, cfg.Log)
	records := recorded{s.journal, record.New(s.journal, cfg.Log, cfg.StateDir)}
	format := partfile.Format{Format: cfg.Format, WriterID: s.journal.WriterID()}
	buffers := memory.New(cfg.Memory.Payloads)

	s.commit = commit.New(commit.Config{
		Log: cfg.Log, StateDir: cfg.StateDir, Target: cfg.Target, OpenTarget: cfg.OpenTarget, Uploads: cfg.Uploads,
	}, records, s.staging)
	s.buckets = bucket.New(bucket.Config{
		Log: cfg.Log, StateDir: cfg.StateDir, Format: format, Letters: cfg.Letters, Policy: cfg.Policy, Part: s.newPart(),
		CheckInterval: cfg.BucketCheckInterval, MaxOpen: cfg.MaxOpenBuckets, OpenFiles: cfg.OpenFiles,
		OpenMemory: cfg.Memory.Open(), SealMemory: cfg.Memory.Parts - cfg.Memory.Open(),
	}, records, s.staging, s.full, s.commit)
	workers := encode.New(encode.Config{NewAssigner: cfg.NewAssigner, Format: format, Workers: cfg.Workers}, s.journal, buffers)
	s.intake = intake.New(intake.Config{
		Log: cfg.Log, StateDir: cfg.StateDir, Target: cfg.Target, StateLimit: cfg.StateLimit, FlushTimeout: cfg.FlushTimeout,
		Directories: cfg.Directories, Journal: s.journal, Recorder: records.Recorder, Memory: buffers,
		Work: memory.NewWork(cfg.Memory.Work),
		Used: s.used, Staged: s.staging.Bytes, Encode: workers, RollPinning: s.buckets.RollPinning,
	})

	s.addPending()
	s.commit.Start(s.remote)
	s.buckets.Start(s.ctx, s.local, workers.Ordered(), s.intake)
	workers.Start(s.local)
	s.intake.Start(s.local)
}

// newPart is what all new parts have in common.
func (s *Sink) newPart() journal.Part {
	return journal.Part{
		Target: s.cfg.Target, Base: s.cfg.Base, Prefix: s.cfg.PartPrefix + "-" + s.journal.WriterID(), Suffix: s.cfg.PartSuffix,
		FileMode: s.cfg.Upload.FileMode, DirMode: s.cfg.Upload.DirMode,
		Replication: s.cfg.Upload.Replication, BlockSize: s.cfg.Upload.BlockSize,
	}
}

// addPending queues the pending parts that the last process left.
func (s *Sink) addPending() {
	for _, p := range s.journal.Parts() {
		s.commit.Add(p)
		if p.Held != "" {
			s.log.Error("a part is held", "part", p.Number, "bucket", p.Bucket, "why", p.Held,
				"do", fmt.Sprintf("`out-hdfs resolve --state-dir %s part %d publish` or `… done`", s.cfg.StateDir, p.Number))
		}
	}
}

// used is what state_limit bounds, in bytes.
func (s *Sink) used() int64 { return s.journal.Usage() + s.staging.Bytes() }

// full reports whether the state directory holds more than state_limit.
func (s *Sink) full() bool { return s.used() > s.cfg.StateLimit }

// Released is closed when the state directory's lock is another's to take: with
// Close, or, if a call to the disk hung then, when that has come back.
func (s *Sink) Released() <-chan struct{} { return s.released }

// FlushOptions say how a Flush may behave.
type FlushOptions struct {
	// NoWait is set on the engine's own thread, where waiting would stop the
	// whole agent: a full state directory is then answered at once. A disk that
	// is slow or hangs is waited for, no longer than flush_timeout.
	NoWait bool
}

// Flush makes a chunk durable and answers what to tell Fluent Bit, within
// flush_timeout, or half of it after room was found for the chunk. data is read until it returns and not kept. file is the chunk's own file, where that
// is known.
func (s *Sink) Flush(tag string, data []byte, file chunkfile.File, o FlushOptions) Answer {
	if s.intake.Accept(s.ctx, tag, data, file, o.NoWait) {
		return OK
	}
	return Retry
}

// WriterID is the instance's name in its parts' names.
func (s *Sink) WriterID() string { return s.journal.WriterID() }
