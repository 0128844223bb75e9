package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// uploader publishes pending parts: oldest first, a bounded number at a time,
// none whose bucket or target is backing off.
type uploader struct {
	notice
	lock    sync.Mutex
	pending map[uint64]*pending
	busy    int
	targets map[string]*target
}

// pending is a pending part's place in line.
type pending struct {
	number uint64
	target string
	bucket string // with its target, what a path's error backs off
	busy   bool
	held   bool
}

// target is a file system with its back-off and those of its buckets.
type target struct {
	name    string
	opening sync.Mutex // held while opening; guards fs
	fs      fs.FileSystem
	trouble trouble
	buckets map[string]*trouble
}

// trouble is why, and until when, something isn't tried.
type trouble struct {
	backoff
	until time.Time
	since time.Time
	why   error
}

func (t *trouble) hit(err error, now time.Time) (first bool) {
	first = t.why == nil
	if first {
		t.since = now
	}
	t.why, t.until = err, now.Add(t.next())
	return first
}

// heal ends the trouble and reports whether there was any.
func (t *trouble) heal() bool {
	was := t.why != nil
	*t = trouble{}
	return was
}

func (u *uploader) start(s *Sink) {
	for range max(1, s.cfg.Uploads) {
		s.goRun("uploader", func(ctx context.Context) { u.run(ctx, s) })
	}
}

// addPart queues a pending part.
func (u *uploader) addPart(p journal.Part) {
	u.lock.Lock()
	if u.pending == nil {
		u.pending, u.targets = map[uint64]*pending{}, map[string]*target{}
	}
	u.pending[p.Number] = &pending{number: p.Number, target: p.Target, bucket: p.Base + "/" + p.Bucket, held: p.Held != ""}
	u.targetLocked(p.Target)
	u.lock.Unlock()
	u.change()
}

func (u *uploader) targetLocked(name string) *target {
	t := u.targets[name]
	if t == nil {
		t = &target{name: name, buckets: map[string]*trouble{}}
		u.targets[name] = t
	}
	return t
}

// forget drops a part that is finished without this uploader.
func (u *uploader) forget(number uint64) {
	u.lock.Lock()
	delete(u.pending, number)
	u.lock.Unlock()
	u.change()
}

// waitIdle waits until no part is left that could be published now: parts that
// are held don't count.
func (u *uploader) waitIdle(ctx context.Context) bool {
	return u.waitFor(ctx, func() bool {
		u.lock.Lock()
		defer u.lock.Unlock()
		for _, p := range u.pending {
			if !p.held {
				return false
			}
		}
		return true
	})
}

func (u *uploader) run(ctx context.Context, s *Sink) {
	for ctx.Err() == nil {
		ch := u.changed()
		p, wait := u.take(time.Now())
		if p != nil {
			u.publish(ctx, s, p)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-ch:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// take takes the oldest part that may be tried now, or says how long there is
// none. While a target is in trouble one part at a time probes it.
func (u *uploader) take(now time.Time) (next *pending, wait time.Duration) {
	u.lock.Lock()
	defer u.lock.Unlock()
	wait = time.Hour
	probing := map[string]bool{}
	for _, p := range u.pending {
		probing[p.target] = probing[p.target] || p.busy
	}
	for _, n := range slices.Sorted(maps.Keys(u.pending)) {
		p := u.pending[n]
		t := u.targets[p.target]
		if p.busy || p.held || t.trouble.why != nil && probing[p.target] {
			continue
		}
		until := t.trouble.until
		if b := t.buckets[p.bucket]; b != nil && b.until.After(until) {
			until = b.until
		}
		if left := until.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		p.busy = true
		return p, 0
	}
	return nil, wait
}

// publish tries one part and notes what came of it.
func (u *uploader) publish(ctx context.Context, s *Sink, p *pending) {
	var err error
	panicked := safely(func() { err = s.commit(ctx, p.number) })
	if panicked != "" {
		err = errors.New(panicked)
	}
	u.lock.Lock()
	p.busy = false
	left, exists := s.journal.Part(p.number)
	p.held = left.Held != ""
	if !exists {
		delete(u.pending, p.number)
	}
	u.lock.Unlock()
	if ctx.Err() == nil {
		u.judge(s, p, err)
	}
	u.change()
}

// judge is the one place that decides what an error of a commit means: for its
// bucket, for its target, or for the local disk.
func (u *uploader) judge(s *Sink, p *pending, err error) {
	u.lock.Lock()
	defer u.lock.Unlock()
	t, now := u.targets[p.target], time.Now()
	if err == nil {
		if since := t.trouble.since; t.trouble.heal() {
			s.log.Info("the target works again", "target", t.name, "after", now.Sub(since).Round(time.Second))
		}
		if b := t.buckets[p.bucket]; b != nil {
			delete(t.buckets, p.bucket)
			s.log.Info("the bucket can be written again", "target", t.name, "bucket", p.bucket)
		}
		return
	}
	var onTarget *fs.Error
	switch {
	case errors.As(err, &onTarget) && onTarget.Class == fs.Path:
		b := t.buckets[p.bucket]
		if b == nil {
			b = &trouble{}
			t.buckets[p.bucket] = b
		}
		if b.hit(err, now) {
			s.log.Error("the target refuses a bucket; its parts wait, others go on", "target", t.name, "bucket", p.bucket,
				"error", err, "do", "look at the quota, the permissions and the name; it is tried again by itself")
		}
		if t.trouble.heal() { // it answered
			s.log.Info("the target works again", "target", t.name)
		}
	case errors.As(err, &onTarget):
		if t.trouble.hit(err, now) {
			s.log.Warn("the target is in trouble; parts wait in the state directory and chunks are still accepted",
				"target", t.name, "error", err, "do", "it is tried again by itself; see that state_limit lasts")
		}
	default:
		if t.trouble.hit(err, now) {
			s.log.Error("a part can't be published; trying again", "target", t.name, "part", p.number, "error", err)
		}
	}
}

// open returns the target's file system.
func (u *uploader) open(ctx context.Context, s *Sink, name string) (fs.FileSystem, error) {
	u.lock.Lock()
	if u.targets == nil {
		u.pending, u.targets = map[uint64]*pending{}, map[string]*target{}
	}
	t := u.targetLocked(name)
	u.lock.Unlock()
	t.opening.Lock()
	defer t.opening.Unlock()
	if t.fs != nil {
		return t.fs, nil
	}
	opened, err := s.cfg.OpenTarget(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open target %s: %w", name, err)
	}
	t.fs = opened
	return opened, nil
}

// close closes the targets. It is called after the goroutines have ended.
func (u *uploader) close() error {
	u.lock.Lock()
	defer u.lock.Unlock()
	var errs []error
	for _, t := range u.targets {
		if t.opening.TryLock() {
			if t.fs != nil {
				errs = append(errs, t.fs.Close())
			}
			t.opening.Unlock()
		}
	}
	return errors.Join(errs...)
}
