package hdfsfs

import (
	"context"
	"os"
	"sync"
	"time"
)

const (
	// pace is the least time between a failure and the next connection.
	pace = 300 * time.Millisecond
	// idleFor is how long a session waits for its next call. Each costs the
	// NameNode a connection, and a renewal of leases a second.
	idleFor = 15 * time.Second
	// maxAge ends a session long before the key for the DataNodes that its
	// client keeps does, after 10 hours by default.
	maxAge = time.Hour
)

// pool holds sessions that wait, and knows those that are in use.
type pool struct {
	open func(ctx context.Context, preferred string) (*session, error)

	mu        sync.Mutex
	idle      []*session // the one used last at the end
	busy      map[*session]struct{}
	preferred string    // the NameNode that answered last
	notBefore time.Time // no connection before
	closed    bool
	expiring  sync.WaitGroup // timers at work
}

func newPool(c config) *pool {
	return &pool{busy: map[*session]struct{}{}, open: func(ctx context.Context, preferred string) (*session, error) {
		return openSession(ctx, c, preferred)
	}}
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take returns a session that nobody else has. The caller gives it back.
func (p *pool) take(ctx context.Context) (*session, error) {
	for {
		s, wait, preferred, err := p.pick()
		switch {
		case err != nil:
			return nil, err
		case s == nil && wait > 0:
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
				continue
			case <-ctx.Done():
				timer.Stop()
				return nil, context.Cause(ctx)
			}
		case s == nil:
			return p.connect(ctx, preferred)
		case s.broken.Load() || time.Since(s.born) > maxAge:
			p.drop(s)
		default:
			return s, nil
		}
	}
}

// pick takes an idle session out and marks it busy. Without one it says how
// long to wait before connecting.
func (p *pool) pick() (s *session, wait time.Duration, preferred string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, 0, "", os.ErrClosed
	}
	for len(p.idle) > 0 {
		s := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if s.expire.Stop() {
			p.expiring.Done()
			p.busy[s] = struct{}{}
			return s, 0, "", nil
		} // else its timer closes it
	}
	return nil, time.Until(p.notBefore), p.preferred, nil
}

func (p *pool) connect(ctx context.Context, preferred string) (*session, error) {
	s, err := p.open(ctx, preferred)
	p.mu.Lock()
	if err != nil {
		if ctx.Err() == nil {
			p.notBefore = time.Now().Add(pace)
		}
		p.mu.Unlock()
		return nil, err
	}
	closed := p.closed
	if !closed {
		p.busy[s] = struct{}{}
	}
	p.mu.Unlock()
	if closed {
		s.close()
		return nil, os.ErrClosed
	}
	return s, nil
}

// give takes a session back. A broken one ends.
func (p *pool) give(s *session) {
	p.mu.Lock()
	broken := s.broken.Load()
	if broken && s.ctx.Err() == nil { // by the network and not by its user
		p.notBefore = time.Now().Add(pace)
	}
	if broken || p.closed {
		p.mu.Unlock()
		p.drop(s)
		return
	}
	if a, ok := s.address.Load().(string); ok {
		p.preferred = a
	}
	delete(p.busy, s)
	p.idle = append(p.idle, s)
	p.expiring.Add(1)
	s.expire = time.AfterFunc(idleFor, func() {
		defer p.expiring.Done()
		p.forget(s)
		s.close()
	})
	p.mu.Unlock()
}

// drop ends a busy session.
func (p *pool) drop(s *session) {
	s.close()
	p.mu.Lock()
	delete(p.busy, s)
	p.mu.Unlock()
}

// forget takes a session out of the idle ones, if it still is there.
func (p *pool) forget(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle {
		if other == s {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return
		}
	}
}

// close ends idle sessions and cuts busy ones, whose calls then fail and end
// them.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	for s := range p.busy {
		s.kill(os.ErrClosed)
	}
	p.mu.Unlock()
	for _, s := range idle {
		if s.expire.Stop() {
			p.expiring.Done()
			s.close()
		}
	}
	p.expiring.Wait()
}
