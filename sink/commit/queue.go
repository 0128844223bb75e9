package commit

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/retry"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// target is a file system, the parts that go there, and what isn't tried.
type target struct {
	name    string
	opening chan struct{} // capacity 1: held while opening
	client  *fs.Client    // nil until it is opened; set with opening and the lock held
	queue   []*queued     // by number
	busy    int           // parts being published
	pause   retry.Pause   // of the whole target
	// back is since when the target works again after it was paused, zero if it
	// has for long.
	back time.Time
	// diskTold is true while the local disk hinders parts, and that was told.
	diskTold bool
	buckets  map[string]*bucketPause
}

// bucketPause is why a bucket's parts aren't tried.
type bucketPause struct {
	retry.Pause
	told bool
}

// queued is a pending part's place in line.
type queued struct {
	number uint64
	bucket string // what a path's error pauses, together with the target
	busy   bool
	held   bool
	pause  retry.Pause // of this part
	alone  int         // failures while others were published
}

func (s *Stage) targetLocked(name string) *target {
	t := s.targets[name]
	if t == nil {
		t = &target{name: name, opening: make(chan struct{}, 1), buckets: map[string]*bucketPause{}}
		s.targets[name] = t
	}
	return t
}

func (t *target) find(number uint64) (int, bool) {
	return slices.BinarySearchFunc(t.queue, number, func(p *queued, n uint64) int { return cmp.Compare(p.number, n) })
}

func (t *target) removeLocked(number uint64) {
	if i, ok := t.find(number); ok {
		t.queue = slices.Delete(t.queue, i, i+1)
	}
}

// Add takes over a pending part, or one that was held and is no more.
func (s *Stage) Add(p journal.Part) {
	s.lock.Lock()
	t := s.targetLocked(p.Target)
	if i, ok := t.find(p.Number); ok {
		t.queue[i].held, t.queue[i].pause = p.Held != "", retry.Pause{}
	} else {
		t.queue = slices.Insert(t.queue, i, &queued{number: p.Number, bucket: p.Base + "/" + p.Bucket, held: p.Held != ""})
	}
	s.lock.Unlock()
	s.Change()
}

// Forget drops a part that an operator declared to be published, and its staged
// file.
func (s *Stage) Forget(p journal.Part) {
	s.lock.Lock()
	s.targetLocked(p.Target).removeLocked(p.Number)
	s.lock.Unlock()
	s.Change()
	s.staging.Remove(p.Staged, p.Length)
}

// Idle reports whether no part is left that could be published: parts that are
// held don't count.
func (s *Stage) Idle() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, t := range s.targets {
		if slices.ContainsFunc(t.queue, func(p *queued) bool { return !p.held }) {
			return false
		}
	}
	return true
}

// WaitIdle waits for that.
func (s *Stage) WaitIdle(ctx context.Context) bool { return s.WaitFor(ctx, s.Idle) }

// run publishes a target's parts, one at a time. It ends with ctx.
func (s *Stage) run(ctx context.Context, t *target) {
	for ctx.Err() == nil {
		ch := s.Changed()
		p, wait := s.take(t, time.Now())
		if p != nil {
			s.try(ctx, t, p)
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
// none. While the target is paused one part at a time probes it, and not always
// the same one: the part itself may be why it fails.
func (s *Stage) take(t *target, now time.Time) (next *queued, wait time.Duration) {
	s.lock.Lock()
	defer s.lock.Unlock()
	wait = time.Hour
	probing := t.pause.Why() != nil
	if probing && t.busy > 0 {
		return nil, wait
	}
	if left := t.pause.Until().Sub(now); left > 0 {
		return nil, left
	}
	if left := t.paced(now, s.cfg.Uploads); left > 0 {
		return nil, left
	}
	for _, p := range t.queue {
		if p.busy || p.held {
			continue
		}
		until := p.pause.Until()
		if b := t.buckets[p.bucket]; b != nil && b.Until().After(until) {
			until = b.Until()
		}
		if left := until.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		if next == nil || p.pause.Failures() < next.pause.Failures() {
			next = p
		}
		if !probing || next.pause.Failures() == 0 {
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

// pace is how long a target that is back works before it gets one more upload at a
// time: all agents find it back within a retry.Longest, and what they hold then
// shouldn't come in one second.
const pace = 10 * time.Second

// paced is how long no further part may be tried beside those under way.
func (t *target) paced(now time.Time, uploads int) time.Duration {
	if t.back.IsZero() {
		return 0
	}
	allowed := 1 + int(now.Sub(t.back)/pace)
	if allowed >= uploads {
		t.back = time.Time{}
		return 0
	}
	if t.busy < allowed {
		return 0
	}
	return t.back.Add(time.Duration(allowed) * pace).Sub(now)
}

// try tries one part and notes what came of it.
func (s *Stage) try(ctx context.Context, t *target, p *queued) {
	began := time.Now()
	var err error
	if panicked := run.Safely(func() { err = s.commit(ctx, p.number) }); panicked != "" {
		err = errors.New(panicked)
	}
	s.lock.Lock()
	p.busy = false
	t.busy--
	left, exists := s.journal.Part(p.number)
	p.held = left.Held != ""
	if !exists {
		t.removeLocked(p.number)
	}
	if ctx.Err() == nil && (err == nil || !p.held) {
		s.judgeLocked(t, p, began, err)
	}
	s.lock.Unlock()
	s.Change()
}

// RetryNow lets everything be tried now that is paused: for the last time before
// a stop, and the target may be back.
func (s *Stage) RetryNow() {
	s.lock.Lock()
	for _, t := range s.targets {
		t.pause.Skip()
		t.back = time.Time{}
		for _, b := range t.buckets {
			b.Skip()
		}
		for _, p := range t.queue {
			p.pause.Skip()
		}
	}
	s.lock.Unlock()
	s.Change()
}

// isPaused reports whether a target as a whole isn't tried.
func (s *Stage) isPaused(name string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	t := s.targets[name]
	return t != nil && t.pause.Why() != nil
}

// Paused is a target, one of its buckets or one part that isn't tried until
// then.
type Paused struct {
	Target string
	Bucket string // with the base path; "" for the target as a whole
	Part   uint64 // 0 for more than one part
	Since  time.Time
	Until  time.Time
	Why    error
}

// Paused lists what isn't tried now, by target, bucket and part.
func (s *Stage) Paused() []Paused {
	s.lock.Lock()
	defer s.lock.Unlock()
	var out []Paused
	note := func(t *target, bucket string, part uint64, p *retry.Pause) {
		if p.Why() != nil {
			out = append(out, Paused{Target: t.name, Bucket: bucket, Part: part, Since: p.Since(), Until: p.Until(), Why: p.Why()})
		}
	}
	for _, t := range s.targets {
		note(t, "", 0, &t.pause)
		for bucket, b := range t.buckets {
			note(t, path.Clean(bucket), 0, &b.Pause)
		}
		for _, p := range t.queue {
			note(t, path.Clean(p.bucket), p.number, &p.pause)
		}
	}
	slices.SortFunc(out, func(x, y Paused) int {
		return cmp.Or(strings.Compare(x.Target, y.Target), strings.Compare(x.Bucket, y.Bucket), cmp.Compare(x.Part, y.Part))
	})
	return out
}
