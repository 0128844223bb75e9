package hdfsfs

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// fakePool is a pool of sessions that connect to nothing.
type fakePool struct {
	*pool
	mu     sync.Mutex
	opened []*session
	asked  []string // NameNodes
	err    error
}

func newFakePool(addresses ...string) *fakePool {
	if len(addresses) == 0 {
		addresses = []string{"nn:8020"}
	}
	f := &fakePool{pool: newPool(config{addresses: addresses})}
	f.open = func(_ context.Context, address string) (*session, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, address)
		if f.err != nil {
			return nil, f.err
		}
		s := newSession(config{}, address)
		f.opened = append(f.opened, s)
		return s, nil
	}
	return f
}

// take waits for no NameNode to become active.
func (f *fakePool) take(ctx context.Context) (*session, error) { return f.pool.take(ctx, time.Now()) }

func (f *fakePool) mustTake(t *testing.T) *session {
	t.Helper()
	s, err := f.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func over(s *session) bool { return s.ctx.Err() != nil }

// bubble runs f under a clock of its own, and sees that no goroutine is left.
func bubble(t *testing.T, f func(t *testing.T, p *fakePool)) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	synctest.Test(t, func(t *testing.T) {
		p := newFakePool()
		f(t, p)
		p.close()
		for i, s := range p.opened {
			if !over(s) {
				t.Errorf("session %d outlives the pool", i)
			}
		}
	})
	goleak.VerifyNone(t, before)
}

func TestPoolGivesASessionToOneAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		a, b := p.mustTake(t), p.mustTake(t)
		if a == b {
			t.Fatal("two have one session")
		}
		p.give(a)
		if again := p.mustTake(t); again != a {
			t.Error("an idle session isn't used")
		} else {
			p.give(again)
		}
		p.give(b)
		if last := p.mustTake(t); last != b {
			t.Error("the session used last isn't the first to be used")
		} else {
			p.give(last)
		}
	})
}

func TestPoolEndsIdleSessions(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		s := p.mustTake(t)
		p.give(s)
		time.Sleep(idleFor - time.Nanosecond)
		synctest.Wait()
		if over(s) {
			t.Error("it ended early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !over(s) {
			t.Error("it never ends")
		}
		if next := p.mustTake(t); next == s {
			t.Error("an ended session is used")
		} else {
			p.give(next)
		}
	})
}

func TestPoolEndsABusySessionNever(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		s := p.mustTake(t)
		p.give(s)
		s = p.mustTake(t)
		time.Sleep(10 * idleFor)
		synctest.Wait()
		if over(s) {
			t.Error("it ended in use")
		}
		p.give(s)
	})
}

func TestPoolEndsOldSessions(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		s := p.mustTake(t)
		time.Sleep(maxAge + time.Second)
		p.give(s)
		if next := p.mustTake(t); next == s {
			t.Error("it is used beyond its age")
		} else {
			p.give(next)
		}
	})
}

func TestPoolThrowsBrokenSessionsAway(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		inUse, idle := p.mustTake(t), p.mustTake(t)
		p.give(idle)
		idle.broken.Store(true)
		inUse.broken.Store(true)
		p.give(inUse)
		if next := p.mustTake(t); next == inUse || next == idle {
			t.Error("a broken session is used")
		} else {
			p.give(next)
		}
		if !over(inUse) || !over(idle) {
			t.Error("a broken session lives on")
		}
	})
}

func TestPoolPacesConnectionsAfterAFailure(t *testing.T) {
	for _, row := range []struct {
		name string
		fail func(t *testing.T, p *fakePool)
		most time.Duration
	}{
		{"no failure", func(*testing.T, *fakePool) {}, 0},
		{"a connection that failed", func(t *testing.T, p *fakePool) {
			p.err = errors.New("refused")
			if _, err := p.take(t.Context()); !errors.Is(err, p.err) {
				t.Errorf("take answers %v", err)
			}
			p.err = nil
		}, 2 * pace},
		{"a session that broke", func(t *testing.T, p *fakePool) {
			s := p.mustTake(t)
			s.broken.Store(true)
			p.give(s)
		}, 2 * pace},
		{"a session that its user ended", func(t *testing.T, p *fakePool) {
			s := p.mustTake(t)
			s.kill(context.Canceled)
			p.give(s)
		}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *fakePool) {
				row.fail(t, p)
				start := time.Now()
				p.give(p.mustTake(t))
				if waited := time.Since(start); waited > row.most || waited < row.most/2 {
					t.Errorf("the next connection waited %v, want %v to %v", waited, row.most/2, row.most)
				}
			})
		})
	}
}

func TestPoolWaitsNoLongerThanCtx(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		p.err = errors.New("refused")
		_, _ = p.take(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), pace/2)
		defer cancel()
		if _, err := p.take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("take answers %v", err)
		}
	})
}

func TestPoolThatIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		busy, idle := p.mustTake(t), p.mustTake(t)
		p.give(idle)
		p.close()
		if !over(busy) || !over(idle) {
			t.Error("sessions live on")
		}
		if _, err := p.take(t.Context()); !errors.Is(err, os.ErrClosed) {
			t.Errorf("take answers %v", err)
		}
		p.give(busy)
		p.close() // again
		if len(p.busy) != 0 || len(p.idle) != 0 {
			t.Errorf("sessions are kept: %d busy, %d idle", len(p.busy), len(p.idle))
		}
	})
}

func TestPoolThatIsClosedWhileItConnects(t *testing.T) {
	bubble(t, func(t *testing.T, p *fakePool) {
		open := p.open
		p.open = func(ctx context.Context, address string) (*session, error) {
			s, err := open(ctx, address)
			p.close()
			return s, err
		}
		if _, err := p.take(t.Context()); !errors.Is(err, os.ErrClosed) {
			t.Errorf("take answers %v", err)
		}
	})
}

// TestASessionIsNeverEndedByItsLastUser gives a session back at the moment at
// which the ctx of its user ends: what then ends the session may run later.
func TestASessionIsNeverEndedByItsLastUser(t *testing.T) {
	for range 100 {
		p := newFakePool()
		s := p.mustTake(t)
		ctx, cancel := context.WithCancel(t.Context())
		stop := s.until(ctx)
		cancel()
		stop()
		p.give(s)
		if p.mustTake(t) == s {
			t.Fatal("the next one got a session that is about to be ended")
		}
		p.close()
	}
}
