package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// uploader publishes pending parts: each target's on goroutines of its own, so
// that an earlier configuration's target which hangs holds nobody up.
type uploader struct {
	notice
	s       *Sink
	lock    sync.Mutex
	targets map[string]*target
	clients []*fs.Client // all that were opened
	fenced  bool         // no call on a target begins any more
}

// target is a file system, the parts that go there, and what isn't tried.
type target struct {
	name    string
	opening chan struct{} // capacity 1: held while opening; guards fs
	fs      *fs.Client    // nil until it is opened
	queue   []*pending    // by number
	busy    int           // parts being published
	trouble trouble       // of the whole target
	// diskTold is true while the local disk is the trouble, and that was told.
	diskTold bool
	buckets  map[string]*bucketTrouble
}

// bucketTrouble is why a bucket's parts aren't tried.
type bucketTrouble struct {
	trouble
	told bool
}

// pending is a pending part's place in line.
type pending struct {
	number  uint64
	bucket  string // what a path's error backs off, together with the target
	busy    bool
	held    bool
	trouble trouble // of this part
	alone   int     // failures while others were published
}

func (u *uploader) init(s *Sink) {
	u.s = s
	u.targets = map[string]*target{}
}

// start starts `uploads` goroutines for each target. No part for another target
// appears later: what is rolled from now on goes to today's.
func (u *uploader) start() {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.targetLocked(u.s.cfg.Target)
	for _, t := range u.targets {
		for range max(1, u.s.cfg.Uploads) {
			u.s.goRun(&u.s.remote, "uploader", func(ctx context.Context) { u.run(ctx, t) })
		}
	}
}

func (u *uploader) targetLocked(name string) *target {
	t := u.targets[name]
	if t == nil {
		t = &target{name: name, opening: make(chan struct{}, 1), buckets: map[string]*bucketTrouble{}}
		u.targets[name] = t
	}
	return t
}

func (t *target) find(number uint64) (int, bool) {
	return slices.BinarySearchFunc(t.queue, number, func(p *pending, n uint64) int { return cmp.Compare(p.number, n) })
}

// addPart queues a pending part, or one that was held and is no more.
func (u *uploader) addPart(p journal.Part) {
	u.lock.Lock()
	t := u.targetLocked(p.Target)
	if i, ok := t.find(p.Number); ok {
		t.queue[i].held, t.queue[i].trouble = p.Held != "", trouble{}
	} else {
		t.queue = slices.Insert(t.queue, i, &pending{number: p.Number, bucket: p.Base + "/" + p.Bucket, held: p.Held != ""})
	}
	u.lock.Unlock()
	u.change()
}

// forget drops a part that is finished without this uploader.
func (u *uploader) forget(p journal.Part) {
	u.lock.Lock()
	u.targetLocked(p.Target).removeLocked(p.Number)
	u.lock.Unlock()
	u.change()
}

func (t *target) removeLocked(number uint64) {
	if i, ok := t.find(number); ok {
		t.queue = slices.Delete(t.queue, i, i+1)
	}
}

// idle reports whether no part is left that could be published: parts that are
// held don't count.
func (u *uploader) idle() bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	for _, t := range u.targets {
		if slices.ContainsFunc(t.queue, func(p *pending) bool { return !p.held }) {
			return false
		}
	}
	return true
}

func (u *uploader) waitIdle(ctx context.Context) bool { return u.waitFor(ctx, u.idle) }

func (u *uploader) run(ctx context.Context, t *target) {
	for ctx.Err() == nil {
		ch := u.changed()
		p, wait := u.take(t, time.Now())
		if p != nil {
			u.publish(ctx, t, p)
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
// none. While the target is in trouble one part at a time probes it, and not
// always the same: it may be that part's own trouble.
func (u *uploader) take(t *target, now time.Time) (next *pending, wait time.Duration) {
	u.lock.Lock()
	defer u.lock.Unlock()
	wait = time.Hour
	probing := t.trouble.why != nil
	if probing && t.busy > 0 {
		return nil, wait
	}
	if left := t.trouble.until.Sub(now); left > 0 {
		return nil, left
	}
	for _, p := range t.queue {
		if p.busy || p.held {
			continue
		}
		until := p.trouble.until
		if b := t.buckets[p.bucket]; b != nil && b.until.After(until) {
			until = b.until
		}
		if left := until.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		if next == nil || p.trouble.failures < next.trouble.failures {
			next = p
		}
		if !probing || next.trouble.failures == 0 {
			break
		}
	}
	if next == nil {
		return nil, wait
	}
	next.busy = true
	t.busy++
	return next, 0
}

// publish tries one part and notes what came of it.
func (u *uploader) publish(ctx context.Context, t *target, p *pending) {
	began := time.Now()
	var err error
	if panicked := safely(func() { err = u.s.commit(ctx, p.number) }); panicked != "" {
		err = errors.New(panicked)
	}
	u.lock.Lock()
	p.busy = false
	t.busy--
	left, exists := u.s.journal.Part(p.number)
	p.held = left.Held != ""
	if !exists {
		t.removeLocked(p.number)
	}
	if ctx.Err() == nil && (err == nil || !p.held) {
		u.judgeLocked(t, p, began, err)
	}
	u.lock.Unlock()
	u.change()
}

// open returns the target's file system.
func (u *uploader) open(ctx context.Context, name string) (*fs.Client, error) {
	u.lock.Lock()
	t := u.targetLocked(name)
	u.lock.Unlock()
	select {
	case t.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-t.opening }()
	if t.fs != nil {
		return t.fs, nil
	}
	if u.isFenced() {
		return nil, &fs.Error{Op: "open", Path: name, Class: fs.Target, Err: fs.ErrFenced}
	}
	opened, err := u.s.cfg.OpenTarget(ctx, name)
	if err != nil {
		// Whatever the reason, it is the target's and no part's.
		return nil, &fs.Error{Op: "open target", Path: name, Class: fs.Target, Err: err}
	}
	u.know(opened)
	t.fs = opened
	return t.fs, nil
}

func (u *uploader) isFenced() bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	return u.fenced
}

// know notes a client that was opened. One that comes after the fence is behind
// it too.
func (u *uploader) know(c *fs.Client) {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.clients = append(u.clients, c)
	if u.fenced {
		c.Fence()
	}
}

// fence lets no call on any target begin any more, whoever still runs.
func (u *uploader) fence() {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.fenced = true
	for _, c := range u.clients {
		c.Fence()
	}
}

// close closes the targets. It is called after the goroutines have ended.
func (u *uploader) close() error {
	u.lock.Lock()
	defer u.lock.Unlock()
	var errs []error
	for _, t := range u.targets {
		if t.fs == nil {
			continue
		}
		if err := t.fs.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close target %s: %w", t.name, err))
		}
	}
	return errors.Join(errs...)
}
