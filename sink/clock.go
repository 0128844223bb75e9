package sink

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Back-off of whatever is tried again: doubled from firstDelay to maxDelay,
// with up to half of it taken off at random so that a fleet doesn't come back
// as one.
const (
	firstDelay = 250 * time.Millisecond
	maxDelay   = 30 * time.Second
)

// backoff counts failures in a row. The zero value is ready to use.
type backoff struct{ failures int }

func (b *backoff) next() time.Duration {
	d := firstDelay << min(b.failures, 16)
	b.failures++
	d = min(d, maxDelay)
	return d - rand.N(d/2+1)
}

// notice lets goroutines wait for a condition that others change. The zero
// value is ready to use.
type notice struct {
	mu sync.Mutex
	ch chan struct{}
}

// changed returns a channel that is closed at the next call of change. It must
// be taken before the condition is looked at.
func (n *notice) changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

func (n *notice) change() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}

// waitFor waits until ok answers true, asking again at each change. It reports
// false if ctx ended first.
func (n *notice) waitFor(ctx context.Context, ok func() bool) bool {
	for {
		ch := n.changed()
		if ok() {
			return true
		}
		select {
		case <-ctx.Done():
			return ok()
		case <-ch:
		}
	}
}

func stack() string { return string(debug.Stack()) }
