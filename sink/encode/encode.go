// Package encode turns owed chunks into jobs: it decodes a chunk's records, asks
// the assigner for each one's bucket, and encodes each bucket's share where the
// format allows that ahead of the file.
//
// Whatever goes wrong with a record, a panic included, makes a dead letter of
// that record and of no other: nothing is dropped here. It works on memory and
// on what it reads back from the journal; it writes nothing.
//
// Chunks are worked on side by side and leave in the order in which they were
// submitted.
package encode

import (
	"context"
	"errors"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/memory"
	"github.com/out-hdfs/out_hdfs/sink/partfile"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Config is what a Stage is made of.
type Config struct {
	// NewAssigner makes an assigner for one goroutine.
	NewAssigner func() assigner.Assigner
	Format      partfile.Format
	Workers     int // chunks decoded at a time
}

// Journal is what the stage asks the journal.
type Journal interface {
	Chunk(seq uint64) (journal.Live, bool)
	Covered(seq uint64) journal.Coverage
	Read(seq uint64, buf []byte) (journal.Payload, error)
}

// Stage is the workers, and the order in which their jobs leave.
type Stage struct {
	cfg     Config
	journal Journal
	memory  *memory.Pool
	trials  trials

	jobs    chan *chunk.Job // to the workers
	ordered chan *chunk.Job // to the buckets; its capacity bounds the pipeline
}

// New returns a Stage that isn't started.
func New(cfg Config, j Journal, m *memory.Pool) *Stage {
	cfg.Workers = max(1, cfg.Workers)
	return &Stage{
		cfg: cfg, journal: j, memory: m,
		jobs: make(chan *chunk.Job), ordered: make(chan *chunk.Job, cfg.Workers+1),
	}
}

// Start starts the workers, which end with the group's context.
func (s *Stage) Start(g *run.Group) {
	for range s.cfg.Workers {
		g.Go("worker", func(ctx context.Context) { s.newWorker().run(ctx) })
	}
}

// Submit begins a job, once there is a place for it. One goroutine submits. It
// reports false if ctx ended first; the job may then be in Ordered, and is never
// done.
// The job takes the room over.
func (s *Stage) Submit(ctx context.Context, o chunk.Owed, room *memory.Room) bool {
	j := chunk.NewJob(o, room)
	// The buckets first: whoever takes it there waits until it is done, so the
	// order is that of submission.
	return send(ctx, s.ordered, j) && send(ctx, s.jobs, j)
}

func send(ctx context.Context, c chan<- *chunk.Job, j *chunk.Job) bool {
	select {
	case c <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// Ordered are the jobs in the order of submission, done or not.
func (s *Stage) Ordered() <-chan *chunk.Job { return s.ordered }

// worker works on one job at a time.
type worker struct {
	*Stage
	assigner assigner.Assigner
	encoder  codec.BlockEncoder // nil if the format encodes in the file only
	reader   event.Reader
}

func (s *Stage) newWorker() *worker {
	w := &worker{Stage: s, assigner: s.cfg.NewAssigner()}
	w.renewEncoder()
	return w
}

// renewEncoder makes a new encoder: one that panicked may be in any state.
func (w *worker) renewEncoder() {
	if f, ok := w.cfg.Format.Format.(codec.BlockFormat); ok {
		w.encoder = f.NewBlockEncoder()
	}
}

func (w *worker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-w.jobs:
			if panicked := run.Safely(func() { w.work(j) }); panicked != "" {
				j.Err = errors.New(panicked)
			}
			close(j.Done)
		}
	}
}
