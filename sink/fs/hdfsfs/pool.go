package hdfsfs

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

const (
	// pace is the least time between a failure and the next connection; the most is
	// twice as long.
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
	addresses []string // of the NameNodes, one of which is active
	tickets   *tickets // nil without Kerberos
	open      func(ctx context.Context, address string) (*session, error)

	life context.Context // ends with close
	end  context.CancelFunc

	mu        sync.Mutex
	idle      []*session // the one used last at the end
	busy      map[*session]struct{}
	preferred string    // the NameNode that was active last
	notBefore time.Time // no connection before
	closed    bool
	expiring  sync.WaitGroup // timers at work
}

func newPool(c config) *pool {
	p := &pool{addresses: c.addresses, busy: map[*session]struct{}{}}
	if c.kerberos != nil {
		p.tickets = newTickets(c.kerberos, c.addresses)
	}
	p.open = func(ctx context.Context, address string) (*session, error) {
		return openSession(ctx, c, p.tickets, address)
	}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take returns a session that nobody else has. The caller gives it back. It waits
// for an active NameNode, if there are several, until the time is over.
func (p *pool) take(ctx context.Context, until time.Time) (*session, error) {
	for {
		s, wait, err := p.pick()
		switch {
		case err != nil:
			return nil, err
		case s == nil && wait > 0:
			if err := pause(ctx, wait); err != nil {
				return nil, err
			}
		case s == nil:
			return p.connect(ctx, until)
		case s.broken.Load() || time.Since(s.born) > maxAge:
			p.drop(s)
		default:
			return s, nil
		}
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pick takes an idle session out and marks it busy. Without one it says how
// long to wait before connecting.
func (p *pool) pick() (s *session, wait time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, 0, os.ErrClosed
	}
	for len(p.idle) > 0 {
		s := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if s.expire.Stop() {
			p.expiring.Done()
			p.busy[s] = struct{}{}
			return s, 0, nil
		} // else its timer closes it
	}
	return nil, time.Until(p.notBefore), nil
}

// connect opens a session on the active NameNode.
func (p *pool) connect(ctx context.Context, until time.Time) (*session, error) {
	s, err := p.find(ctx, until)
	p.mu.Lock()
	closed := p.closed
	if err != nil {
		if ctx.Err() == nil {
			p.hold()
		}
		p.mu.Unlock()
		if closed {
			err = os.ErrClosed
		}
		return nil, err
	}
	if !closed {
		p.busy[s] = struct{}{}
		p.preferred = s.address
	}
	p.mu.Unlock()
	if closed {
		s.close()
		return nil, os.ErrClosed
	}
	return s, nil
}

// hold lets nobody connect for a moment, which isn't the same for all agents. The
// mutex is held.
func (p *pool) hold() { p.notBefore = time.Now().Add(pace + rand.N(pace)) }

// give takes a session back. A broken one ends.
func (p *pool) give(s *session) {
	p.mu.Lock()
	broken := s.broken.Load()
	if broken && s.ctx.Err() == nil { // by the network and not by its user
		p.hold()
	}
	if broken && p.preferred == s.address {
		p.preferred = ""
	}
	if broken || p.closed {
		p.mu.Unlock()
		p.drop(s)
		return
	}
	s.used = true
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
	p.end()
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
	if p.tickets != nil {
		p.tickets.close()
	}
}
