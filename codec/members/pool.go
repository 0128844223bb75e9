package members

import "sync"

// Pool keeps a few things that are dear to make, for those who need one next.
// Unlike a sync.Pool it never holds more than it says. It is safe for concurrent
// use.
type Pool[T any] struct {
	Max int // how many it keeps

	lock sync.Mutex
	free []T
}

// Get takes one out. ok is false if there is none.
func (p *Pool[T]) Get() (one T, ok bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	n := len(p.free)
	if n == 0 {
		return one, false
	}
	one, p.free = p.free[n-1], p.free[:n-1]
	return one, true
}

// Put gives one back, which the caller no longer uses.
func (p *Pool[T]) Put(one T) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if len(p.free) < p.Max {
		p.free = append(p.free, one)
	}
}
