// Package commit publishes pending parts: each is uploaded under a temp name in
// its bucket, checked, and given its final name, exactly once.
//
// # Invariants
//
// Each step is preceded by a synced frame that announces it. A temp is published
// only if it is the file that was uploaded. Before the first renaming frame any
// failure means a new attempt; after it nothing is uploaded or removed until it
// is known where the file is. Where no rule can tell that, the part is held.
//
// Nothing but temps that the journal lists is ever removed on a target.
//
// # Concurrency
//
// Each target has goroutines of its own, so that one which hangs holds no other
// up. A part is in the hands of one of them at a time. An error that isn't a
// part's own pauses its bucket or its target; see judge.go.
package commit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"sync"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/run"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

// Config is what a Stage is made of.
type Config struct {
	Log      *slog.Logger
	StateDir string // in texts
	// Target is where new parts go, as scheme://authority.
	Target string
	// OpenTarget opens a target: today's, or one that a part of an earlier
	// configuration was rolled for. The Stage closes what it opened.
	OpenTarget func(ctx context.Context, target string) (*fs.Client, error)
	Uploads    int // at a time, for each target
}

// Journal is what the stage asks and tells the journal.
type Journal interface {
	Part(number uint64) (journal.Part, bool)
	// NextPart takes the next part number, and NextNumber looks at it.
	NextPart() uint64
	NextNumber() uint64
	Leftovers() []journal.Leftover
	Record(ctx context.Context, frames ...journal.Frame) bool
}

// Stage is the pending parts of one sink and the targets that they go to.
type Stage struct {
	run.Notice
	cfg     Config
	journal Journal
	staging *staging.Area
	temps   temps

	lock    sync.Mutex
	targets map[string]*target
	fenced  bool
}

// New returns a Stage that isn't started. Parts may be added.
func New(cfg Config, j Journal, s *staging.Area) *Stage {
	return &Stage{cfg: cfg, journal: j, staging: s, targets: map[string]*target{}}
}

// Start starts `uploads` goroutines for each target, which end with the group's
// context. Parts for another target than today's were added before: what is
// rolled from now on goes to today's.
func (s *Stage) Start(g *run.Group) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.targetLocked(s.cfg.Target)
	for _, t := range s.targets {
		for range max(1, s.cfg.Uploads) {
			g.Go("uploader", func(ctx context.Context) { s.run(ctx, t) })
		}
	}
	g.Go("leftovers", func(ctx context.Context) { run.Every(ctx, removeEvery, s.RemoveLeftovers) })
}

// commit takes a pending part from where its last frame says it is to
// published. It returns nil when the part is finished or held, and otherwise
// the error that stopped it, from where the next call goes on.
func (s *Stage) commit(ctx context.Context, number uint64) error {
	p, ok := s.journal.Part(number)
	if !ok || p.Held != "" {
		return nil
	}
	client, err := s.open(ctx, p.Target)
	if err != nil {
		return err
	}
	c := &commit{s: s, target: client, p: p}
	if len(p.Finals) > 0 {
		return c.decide(ctx)
	}
	if err := c.dropAttempts(ctx); err != nil {
		return err
	}
	uploaded, err := c.uploaded(ctx)
	if err != nil || uploaded == nil {
		return err
	}
	return c.publish(ctx, *uploaded, c.final(p.Number))
}

// commit is one part's commit under way.
type commit struct {
	s      *Stage
	target *fs.Client
	p      journal.Part
}

func (c *commit) dir() string { return path.Join(c.p.Base, c.p.Bucket) }

func (c *commit) name(number uint64) string {
	return fmt.Sprintf("%s-%d%s", c.p.Prefix, number, c.p.Suffix)
}

func (c *commit) final(number uint64) string { return path.Join(c.dir(), c.name(number)) }

// record journals a step, however often that takes. An error means that the
// commit ends here and the step isn't taken.
func (c *commit) record(ctx context.Context, frames ...journal.Frame) error {
	if !c.s.journal.Record(ctx, frames...) {
		return fmt.Errorf("journal part %d: %w", c.p.Number, context.Cause(ctx))
	}
	p, ok := c.s.journal.Part(c.p.Number)
	if !ok {
		return fmt.Errorf("part %d isn't pending any more", c.p.Number)
	}
	c.p = p
	return nil
}

// hold ends the commit until an operator decides. do says how, with a verb for
// the beginning of the command.
func (c *commit) hold(ctx context.Context, why, do string) error {
	if err := c.record(ctx, journal.Held{Part: c.p.Number, Why: why}); err != nil {
		return err
	}
	c.s.cfg.Log.Error("a part is held: no rule can tell how to go on", "target", c.p.Target,
		"part", c.p.Number, "bucket", c.p.Bucket, "records", c.p.Records, "why", why, "do",
		fmt.Sprintf(do, fmt.Sprintf("out-hdfs resolve --state-dir %s part %d", c.s.cfg.StateDir, c.p.Number)))
	return nil
}

// Staged is a pending part's staged file.
func Staged(p journal.Part) staging.Staged {
	return staging.Staged{Name: p.Staged, Length: p.Length, CRC: p.CRC}
}

// open returns the target's client.
func (s *Stage) open(ctx context.Context, name string) (*fs.Client, error) {
	s.lock.Lock()
	t := s.targetLocked(name)
	s.lock.Unlock()
	select {
	case t.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-t.opening }()
	if t.client != nil {
		return t.client, nil
	}
	if s.isFenced() {
		return nil, &fs.Error{Op: "open", Path: name, Class: fs.Target, Err: fs.ErrFenced}
	}
	opened, err := s.cfg.OpenTarget(ctx, name)
	if err != nil {
		// Whatever the reason, it is the target's and no part's.
		return nil, &fs.Error{Op: "open target", Path: name, Class: fs.Target, Err: err}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if t.client = opened; s.fenced {
		opened.Fence()
	}
	return opened, nil
}

func (s *Stage) isFenced() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.fenced
}

// Fence lets no operation on a target begin any more, whoever still runs.
func (s *Stage) Fence() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.fenced = true
	for _, t := range s.targets {
		if t.client != nil {
			t.client.Fence()
		}
	}
}

// Close closes the targets. It is called after the goroutines have ended.
func (s *Stage) Close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	var errs []error
	for _, t := range s.targets {
		if t.client == nil {
			continue
		}
		if err := t.client.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close target %s: %w", t.name, err))
		}
	}
	return errors.Join(errs...)
}
