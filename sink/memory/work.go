package memory

import (
	"context"
	"sync"
)

// Work admits jobs while what they take together is within a limit. It is safe
// for concurrent use.
type Work struct {
	limit int64

	mu    sync.Mutex
	taken int64
	freed chan struct{} // closed and replaced when there is less
}

// NewWork returns a Work of limit bytes.
func NewWork(limit int64) *Work { return &Work{limit: limit, freed: make(chan struct{})} }

// Room is what a job has taken of a Work. Its owner changes it; nil takes
// nothing.
type Room struct {
	work *Work
	n    int64
}

// Enter waits until n bytes are free and takes them. One that is alone always
// enters: it may be larger than the limit, and nothing else would ever be freed.
// It returns nil if ctx ended first.
func (w *Work) Enter(ctx context.Context, n int64) *Room {
	for {
		w.mu.Lock()
		if w.taken == 0 || w.taken+n <= w.limit {
			w.taken += n
			w.mu.Unlock()
			return &Room{w, n}
		}
		freed := w.freed
		w.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil
		}
	}
}

// Set changes what is taken to n bytes, once more is known. It doesn't wait.
func (r *Room) Set(n int64) {
	if r == nil {
		return
	}
	w := r.work
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken += n - r.n
	if n < r.n {
		close(w.freed)
		w.freed = make(chan struct{})
	}
	r.n = n
}

// Leave gives everything back.
func (r *Room) Leave() { r.Set(0) }

// Taken is what all rooms take, in bytes.
func (w *Work) Taken() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.taken
}
