// Package bucket owns the buckets and their in-progress parts: it appends the
// shares of jobs to them in the chunks' order, decides when and why a part is
// rolled, and seals rolled parts, which makes them pending.
//
// # Promise
//
// A share is in a part whole, or not at all and owed. A part's records stay owed
// until its staged file is durable and one journal frame says what is in it. A
// part that can't be finished is dropped, and its records go back to where they
// came from. Nothing here waits for a target.
//
// # Concurrency
//
// One goroutine, the applier, owns the buckets and their parts; others ask it by
// sending it a function. Sealers own the parts that were rolled.
package bucket

import (
	"context"
	"log/slog"
	"time"

	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/partfile"
	"github.com/out-hdfs/out_hdfs/sink/retry"
	"github.com/out-hdfs/out_hdfs/sink/run"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

// Config is what a Stage is made of.
type Config struct {
	Log      *slog.Logger
	StateDir string // in texts
	Format   partfile.Format
	Letters  chunk.Letters
	Policy   rolling.Policy
	// Part is what all parts have in common: target, base, prefix, suffix, modes,
	// replication and block size.
	Part          journal.Part
	CheckInterval time.Duration // how often the time rules are checked
	MaxOpen       int           // buckets with an in-progress part
	// OpenFiles is how many files all parts may have open at the moment, those
	// that wait to be sealed among them.
	OpenFiles  func() int
	OpenMemory int64 // bytes that in-progress parts may hold
	SealMemory int64 // bytes that parts which wait to be sealed may hold
}

// Journal is what the stage asks and tells the journal.
type Journal interface {
	NextPart() uint64
	Part(number uint64) (journal.Part, bool)
	Record(ctx context.Context, frames ...journal.Frame) bool
}

// Upstream is where chunks come from, and go back to.
type Upstream interface {
	// Finish ends a job: what of it is in no part was given back before. One
	// that could not be read is the upstream's to see to.
	Finish(j *chunk.Job)
	// Again gives records back that are in no part, to be decoded again after
	// the delay. err is why they could not be written, nil if nothing is wrong
	// with them.
	Again(delay time.Duration, err error, owed ...chunk.Owed)
}

// Downstream is where pending parts go.
type Downstream interface {
	// Add takes a pending part over.
	Add(p journal.Part)
	// Idle reports whether no part is left that could be published, and so make
	// room.
	Idle() bool
}

// Stage is the buckets of one sink.
type Stage struct {
	cfg     Config
	journal Journal
	staging *staging.Area
	down    Downstream
	full    func() bool // state_limit is exceeded
	up      Upstream    // set by Start

	asks chan func() // run by the applier between two jobs
	// pinned is a wish to roll the part that pins the journal longest.
	pinned chan struct{}
	ended  <-chan struct{} // the context of Start has ended
	// parts are the in-progress parts by bucket, the dead letters' among them:
	// no other bucket begins with an underscore. The applier alone touches them.
	parts map[string]*part
	// buffered is the memory of all parts, counted as of each one's last write.
	buffered int64
	rolls    counters
	sealer   sealer
	disk     retry.Shared // why parts can't be finished
}

// New returns a Stage that isn't started. full reports whether the state
// directory holds more than it may.
func New(cfg Config, j Journal, s *staging.Area, full func() bool, down Downstream) *Stage {
	return &Stage{
		cfg: cfg, journal: j, staging: s, full: full, down: down,
		asks: make(chan func()), pinned: make(chan struct{}, 1), parts: map[string]*part{},
		sealer: sealer{rolled: map[uint64]InProgress{}},
	}
}

// Start starts the applier, which takes the jobs in their order, and the
// sealers. They end with ctx, the group's context.
func (s *Stage) Start(ctx context.Context, g *run.Group, jobs <-chan *chunk.Job, up Upstream) {
	s.up, s.ended = up, ctx.Done()
	for range sealers {
		g.Go("sealer", s.seal)
	}
	g.Go("applier", func(ctx context.Context) { s.run(ctx, jobs) })
}

// roomPoll is how often the applier looks whether there is room again, which
// comes from parts being published and segments dying.
const roomPoll = 20 * time.Millisecond

func (s *Stage) run(ctx context.Context, ordered <-chan *chunk.Job) {
	tick := time.NewTicker(max(s.cfg.CheckInterval, time.Millisecond))
	defer tick.Stop()
	for {
		jobs, look := ordered, (<-chan time.Time)(nil)
		if !s.room(ctx) {
			jobs, look = nil, time.After(roomPoll)
		}
		select {
		case <-ctx.Done():
			return
		case j := <-jobs:
			select {
			case <-j.Done:
			case <-ctx.Done():
				return
			}
			s.take(ctx, j)
		case <-look:
		case now := <-tick.C:
			s.rollOld(ctx, now)
		case <-s.pinned:
			s.rollLeast(ctx, rolling.SegmentPinned, func(x, y *part) bool { return x.oldest < y.oldest })
		case f := <-s.asks:
			f()
		}
	}
}

// ask runs f on the applier and waits for it. After a false f may still run.
func (s *Stage) ask(ctx context.Context, f func()) bool {
	ran := make(chan struct{})
	select {
	case s.asks <- func() { f(); close(ran) }:
	case <-ctx.Done():
		return false
	case <-s.ended:
		return false
	}
	select {
	case <-ran:
		return true
	case <-ctx.Done():
		return false
	case <-s.ended:
		return false
	}
}

// WaitSealed waits until no rolled part is left that isn't pending.
func (s *Stage) WaitSealed(ctx context.Context) bool { return s.sealer.WaitFor(ctx, s.sealer.idle) }

// Close closes the staged files that a stop left in progress or unsealed; the
// next start removes them. It is called when the goroutines have ended.
func (s *Stage) Close() {
	for _, p := range s.parts {
		_ = p.file.Close()
	}
	s.sealer.closeFiles()
}
