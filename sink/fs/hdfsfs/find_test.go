package hdfsfs

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// nameNodes are several that are opened in a clock of the test's own.
type nameNodes struct {
	*pool
	mu     sync.Mutex
	state  map[string]string // active, standby, refuses, hangs
	asked  []string
	opened []*session
}

var errStandby = errors.New(noNamenodes + ": renewLease call failed with ERROR_APPLICATION (" + standbyException + ")")

func newNameNodes(state map[string]string, addresses ...string) *nameNodes {
	n := &nameNodes{pool: newPool(config{addresses: addresses}), state: state}
	n.open = func(ctx context.Context, address string) (*session, error) {
		n.mu.Lock()
		n.asked = append(n.asked, address)
		state := n.state[address]
		n.mu.Unlock()
		switch state {
		case "active":
			s := newSession(config{}, address)
			n.mu.Lock()
			n.opened = append(n.opened, s)
			n.mu.Unlock()
			return s, nil
		case "standby":
			return nil, errStandby
		case "hangs":
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return nil, &dialError{&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}}
	}
	return n
}

func (n *nameNodes) become(address, state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state[address] = state
}

// TestTheActiveNameNodeIsFound wherever it stands in the list, and whatever the
// others do.
func TestTheActiveNameNodeIsFound(t *testing.T) {
	for _, row := range []struct {
		name   string
		states [3]string
		within time.Duration
		asked  string
	}{
		{"the first is active", [3]string{"active", "standby", "standby"}, 0, "a"},
		{"the last is active", [3]string{"standby", "refuses", "active"}, 0, "a b c"},
		{"the first hangs", [3]string{"hangs", "active", "standby"}, stagger, "a b"},
		{"two hang", [3]string{"hangs", "hangs", "active"}, 2 * stagger, "a b c"},
		{"one hangs and one refuses", [3]string{"hangs", "standby", "active"}, stagger, "a b c"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNameNodes(map[string]string{"a": row.states[0], "b": row.states[1], "c": row.states[2]}, "a", "b", "c")
				defer n.close()
				start := time.Now()
				s, err := n.take(t.Context(), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				if n.state[s.address] != "active" || time.Since(start) != row.within || strings.Join(n.asked, " ") != row.asked {
					t.Errorf("found %s after %v, asked %v", s.address, time.Since(start), n.asked)
				}
				n.give(s)
				// From now on the active one is asked first.
				n.asked = nil
				other, err := n.connect(t.Context(), time.Now())
				if err != nil || !slices.Equal(n.asked, []string{s.address}) {
					t.Errorf("asked %v, %v", n.asked, err)
				}
				n.give(other)
			})
		})
	}
}

// TestACallWaitsForAFailover, no longer than a takeover lasts, and asks with
// pauses that differ.
func TestACallWaitsForAFailover(t *testing.T) {
	for _, row := range []struct {
		name  string
		after time.Duration // until one is active
		fails bool
	}{{"at once", 0, false}, {"in ten seconds", 10 * time.Second, false}, {"too late", takeover + time.Minute, true}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNameNodes(map[string]string{"a": "standby", "b": "standby"}, "a", "b")
				defer n.close()
				if row.after == 0 {
					n.become("b", "active")
				} else {
					defer time.AfterFunc(row.after, func() { n.become("b", "active") }).Stop()
				}
				start := time.Now()
				s, err := n.take(t.Context(), start.Add(takeover))
				late := time.Since(start) - row.after
				if row.fails {
					if err == nil || time.Since(start) > takeover || fs.ClassOf(failed(t.Context(), "op", "/", err, changing)) != fs.Target {
						t.Errorf("after %v: %v", time.Since(start), err)
					}
					return
				}
				if err != nil || late > longestLook {
					t.Fatalf("found %v late: %v", late, err)
				}
				n.give(s)
				if looks := len(n.asked) / 2; looks > 2+int(row.after/(longestLook/2))+6 {
					t.Errorf("it looked %d times in %v", looks, row.after)
				}
			})
		})
	}
}

// TestPausesBetweenLooksDiffer: a thousand agents that lost their NameNode at one
// moment don't come back at one.
func TestPausesBetweenLooksDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moments := map[time.Duration]int{}
		start := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		const agents = 1000
		for range agents {
			n := newNameNodes(map[string]string{"a": "standby", "b": "standby"}, "a", "b")
			t.Cleanup(n.close)
			open := n.open
			n.open = func(ctx context.Context, address string) (*session, error) {
				mu.Lock()
				moments[time.Since(start).Truncate(10*time.Millisecond)]++
				mu.Unlock()
				return open(ctx, address)
			}
			all.Go(func() { _, _ = n.take(t.Context(), start.Add(takeover)) })
		}
		all.Wait()
		for at, n := range moments {
			if at > 0 && n > agents/2 {
				t.Errorf("%d connections within 10 ms, %v after the failure", n, at)
			}
		}
	})
}

// TestAHungNameNodeIsLeft when another is active, and not before: whoever hangs
// alone may answer yet.
func TestAHungNameNodeIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNameNodes(map[string]string{"a": "active", "b": "standby"}, "a", "b")
		defer n.close()
		s, err := n.take(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		stop := n.watch(t.Context(), s)
		s.asked.Store(time.Now().UnixNano())
		n.become("a", "hangs")
		time.Sleep(30 * time.Second)
		if over(s) {
			t.Error("it was ended although none is active")
		}
		n.become("b", "active")
		time.Sleep(hung + time.Second)
		if !over(s) {
			t.Error("it waits for the one that hangs although another is active")
		}
		stop()
		n.give(s)
		next, err := n.take(t.Context(), time.Now())
		if err != nil || next.address != "b" {
			t.Errorf("the next session is %v, %v", next, err)
		}
		n.give(next)
	})
}

// TestABusyNameNodeIsntLeft: one that answers, though late, is the active one.
func TestABusyNameNodeIsntLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNameNodes(map[string]string{"a": "active", "b": "active"}, "a", "b")
		defer n.close()
		s, err := n.take(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		stop := n.watch(t.Context(), s)
		for range 20 {
			s.asked.Store(time.Now().UnixNano())
			time.Sleep(hung - time.Second)
			s.asked.Store(0)
		}
		stop()
		if over(s) {
			t.Error("it was ended between answers")
		}
		n.give(s)
	})
}

// TestWithoutAnActiveNameNodeItSaysWhatEachIs, and not which call noticed it.
func TestWithoutAnActiveNameNodeItSaysWhatEachIs(t *testing.T) {
	for _, row := range []struct {
		name   string
		states [2]string
		says   []string
	}{
		{"both standby", [2]string{"standby", "standby"}, []string{"no NameNode is active: a is a standby; b is a standby", "haadmin"}},
		{"one standby, one away", [2]string{"refuses", "standby"}, []string{"a: dial tcp: connection refused; b is a standby", "haadmin"}},
		{"both away", [2]string{"refuses", "refuses"}, []string{"connection refused", "fs.defaultFS"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNameNodes(map[string]string{"a": row.states[0], "b": row.states[1]}, "a", "b")
				defer n.close()
				_, err := n.take(t.Context(), time.Now())
				err = failed(t.Context(), "stat", "/", err, reading)
				for _, want := range row.says {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("it doesn't say %q: %v", want, err)
					}
				}
				if strings.Contains(err.Error(), "renewLease") || fs.ClassOf(err) != fs.Target {
					t.Errorf("class %v: %v", fs.ClassOf(err), err)
				}
			})
		})
	}
}

// TestAnActIsRunAgainOnlyIfNothingWasDone: on a session that is over before its
// first answer, and never after one.
func TestAnActIsRunAgainOnlyIfNothingWasDone(t *testing.T) {
	for _, row := range []struct {
		name     string
		used     bool
		answered bool
		err      error
		runs     int
	}{
		{"a session that waited, its connection gone", true, false, io.EOF, 2},
		{"a session that waited, its NameNode a standby", true, false, errStandby, 2},
		{"a new session, its connection gone", false, false, io.EOF, 1},
		{"a new session, its NameNode a standby", false, false, errStandby, 2},
		{"an answer came before", true, true, errStandby, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNameNodes(map[string]string{"a": "active", "b": "active"}, "a", "b")
				defer n.close()
				d := &Driver{c: config{addresses: n.addresses}, pool: n.pool}
				if row.used {
					s, err := n.take(t.Context(), time.Now())
					if err != nil {
						t.Fatal(err)
					}
					n.give(s)
				}
				runs := 0
				err := d.change(t.Context(), "op", "/p", func(s *session) error {
					runs++
					if runs > 1 {
						return nil
					}
					if row.answered {
						s.answers.Add(1)
					}
					s.broken.Store(true)
					return row.err
				})
				if runs != row.runs || (err == nil) != (row.runs == 2) {
					t.Errorf("it ran %d times: %v", runs, err)
				}
			})
		})
	}
}
