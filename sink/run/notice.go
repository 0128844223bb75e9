package run

import (
	"context"
	"sync"
)

// Notice lets goroutines wait for a condition that others change. The zero
// value is ready to use.
type Notice struct {
	mu sync.Mutex
	ch chan struct{}
}

// Changed returns a channel that is closed at the next call of Change. Take it
// before looking at the condition, or a change between the two is missed.
func (n *Notice) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

// Change wakes everybody who waits.
func (n *Notice) Change() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}

// WaitFor waits until ok answers true, and asks again at each Change. It
// reports false if ctx ended first.
func (n *Notice) WaitFor(ctx context.Context, ok func() bool) bool {
	for {
		ch := n.Changed()
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
