package retry

import (
	"sync"
	"time"
)

// Pause is why, since when and until when something isn't tried. The zero value
// is no pause. It isn't safe for concurrent use.
type Pause struct {
	backoff Backoff
	since   time.Time // first failure
	last    time.Time // latest failure that made the pause longer
	until   time.Time
	why     error
}

// Fail notes that a try which began then failed, and reports whether there was
// no pause before. Of several tries under way at a time only the first to fail
// makes the pause longer.
func (p *Pause) Fail(err error, began, now time.Time) (first bool) {
	first = p.why == nil
	if first {
		p.since = now
	}
	if first || !began.Before(p.last) {
		p.last = now
		p.until = now.Add(p.backoff.Next())
	}
	p.why = err
	return first
}

// End ends the pause, and answers how long it was, to the second, and whether
// there was one.
func (p *Pause) End(now time.Time) (after time.Duration, was bool) {
	after, was = now.Sub(p.since).Round(time.Second), p.why != nil
	*p = Pause{}
	return after, was
}

// Skip lets the next try come at once. The pause goes on until one succeeds.
func (p *Pause) Skip() { p.until = time.Time{} }

// Why is the latest error, nil without a pause.
func (p *Pause) Why() error { return p.why }

// Since is when the pause began.
func (p *Pause) Since() time.Time { return p.since }

// Until is when the next try may come.
func (p *Pause) Until() time.Time { return p.until }

// Failures is how often the pause was made longer.
func (p *Pause) Failures() int { return p.backoff.Failures() }

// Shared is a Pause that several goroutines meet. The zero value is no pause.
type Shared struct {
	mu    sync.Mutex
	pause Pause
}

// Fail is Pause.Fail now, and answers how long to wait.
func (s *Shared) Fail(err error, began time.Time) (first bool, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	first = s.pause.Fail(err, began, now)
	return first, s.pause.until.Sub(now)
}

// End is Pause.End now.
func (s *Shared) End() (after time.Duration, was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pause.End(time.Now())
}
