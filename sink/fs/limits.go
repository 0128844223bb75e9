package fs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// LimitOptions are Flink's fs.<scheme>.limit.*. Zero or less means no limit.
type LimitOptions struct {
	Total  int // streams open at a time
	Input  int // of these, streams that read (Open)
	Output int // of these, streams that write (Put)
	// Timeout is how long a call waits for a stream before it fails.
	Timeout time.Duration
	// StreamTimeout is how long a stream may make no progress before it is
	// aborted, so that one that hangs or was forgotten doesn't hold its place.
	StreamTimeout time.Duration
}

func (o LimitOptions) none() bool {
	return o.Total <= 0 && o.Input <= 0 && o.Output <= 0 && o.StreamTimeout <= 0
}

// ErrNoStream is in the error of a call that waited Timeout at a limit.
var ErrNoStream = errors.New("no stream became free in time")

// ErrStalled is in the error of a stream that was aborted after StreamTimeout.
var ErrStalled = errors.New("stream made no progress")

// Limit wraps f so that no more streams are open than o allows. A Put is an
// output stream for as long as it runs, whatever Open returns is an input
// stream until it is closed; other calls pass. At a limit a call waits its
// turn, first come, first served among those that the limits let in.
//
// An aborted Put is one whose ctx ended: a driver that is stuck in a call which
// can't be interrupted keeps its place until that call returns.
func Limit(f FileSystem, o LimitOptions) FileSystem {
	if o.none() {
		return f
	}
	return &limited{FileSystem: f, o: o, gate: &gate{free: o}}
}

type direction int

const (
	input direction = iota
	output
)

// gate counts streams. Every waiter in the queue is one that the counts don't
// let in: whatever frees a place looks at the queue from its front.
type gate struct {
	free LimitOptions // the limits themselves

	mu     sync.Mutex
	open   [2]int
	queue  []*waiter
	closed bool
}

// waiter is one call in the queue. admitted is closed once it has its place,
// or when the gate was closed.
type waiter struct {
	dir      direction
	admitted chan struct{}
}

func (g *gate) fitsLocked(d direction) bool {
	own := [2]int{g.free.Input, g.free.Output}[d]
	if own > 0 && g.open[d] >= own {
		return false
	}
	return g.free.Total <= 0 || g.open[input]+g.open[output] < g.free.Total
}

// enter takes a place or waits for one, timeout at most if it isn't 0. The
// caller leaves after a nil.
func (g *gate) enter(ctx context.Context, d direction, timeout time.Duration) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return os.ErrClosed
	}
	if g.fitsLocked(d) {
		g.open[d]++
		g.mu.Unlock()
		return nil
	}
	w := &waiter{dir: d, admitted: make(chan struct{})}
	g.queue = append(g.queue, w)
	g.mu.Unlock()

	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-w.admitted:
		return g.admission()
	case <-expired:
		return g.giveUp(w, fmt.Errorf("%w: %v at the limit of %s; raise the limit or its timeout", ErrNoStream, timeout, g.describe()))
	case <-ctx.Done():
		return g.giveUp(w, context.Cause(ctx))
	}
}

// admission is what a waiter whose channel was closed got.
func (g *gate) admission() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return os.ErrClosed
	}
	return nil
}

// giveUp takes w out of the queue. If it was let in meanwhile, its place goes
// to the next one.
func (g *gate) giveUp(w *waiter, cause error) error {
	g.mu.Lock()
	i := slices.Index(g.queue, w)
	if i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 {
		g.leave(w.dir)
	}
	return cause
}

// leave frees a place and lets in whoever fits, from the front.
func (g *gate) leave(d direction) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.open[d]--
	g.queue = slices.DeleteFunc(g.queue, func(w *waiter) bool {
		if !g.fitsLocked(w.dir) {
			return false
		}
		g.open[w.dir]++
		close(w.admitted)
		return true
	})
}

// close sends all waiters away.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, w := range g.queue {
		close(w.admitted)
	}
	g.queue = nil
}

func (g *gate) describe() string {
	return fmt.Sprintf("total %d, input %d, output %d streams", max(g.free.Total, 0), max(g.free.Input, 0), max(g.free.Output, 0))
}
