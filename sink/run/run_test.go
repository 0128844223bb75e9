package run_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestAGoroutineThatPanicsBeginsAnew until it returns, and each panic is told.
func TestAGoroutineThatPanicsBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		g := run.NewGroup(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		lives := 0
		g.Go("worker", func(context.Context) {
			if lives++; lives < 3 {
				panic("no more")
			}
		})
		g.Wait()
		if lives != 3 {
			t.Errorf("it lived %d times", lives)
		}
		if n := strings.Count(log.String(), `goroutine=worker panic="no more"`); n != 2 {
			t.Errorf("%d panics are told: %s", n, log.String())
		}
	})
}

// TestTheEndOfTheContextEndsAGoroutineThatPanics, which would begin anew.
func TestTheEndOfTheContextEndsAGoroutineThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		g := run.NewGroup(ctx, slog.New(slog.NewTextHandler(io.Discard, nil)))
		var lives atomic.Int64
		g.Go("worker", func(context.Context) { lives.Add(1); panic("again") })
		g.Wait()
		if ctx.Err() == nil || lives.Load() < 2 {
			t.Errorf("it ended after %d lives, ctx %v", lives.Load(), ctx.Err())
		}
	})
}

// TestANoticeIsNeverMissed between the look at the condition and the wait.
func TestANoticeIsNeverMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n run.Notice
		var value atomic.Int64
		done := make(chan bool)
		go func() {
			done <- n.WaitFor(t.Context(), func() bool {
				v := value.Load()
				if v == 0 { // the change comes right after the look
					value.Store(1)
					n.Change()
				}
				return v == 1
			})
		}()
		if !<-done {
			t.Error("the wait ended before the condition held")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if n.WaitFor(ctx, func() bool { return false }) {
			t.Error("a condition that never holds is said to hold")
		}
	})
}

// TestEveryCallsAtOnceAndThenAgain until the context ends.
func TestEveryCallsAtOnceAndThenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
		defer cancel()
		calls := 0
		run.Every(ctx, time.Minute, func(context.Context) { calls++ })
		if calls != 3 {
			t.Errorf("%d calls in two and a half minutes", calls)
		}
	})
}

// TestSafely: a panic is an answer.
func TestSafely(t *testing.T) {
	if why := run.Safely(func() {}); why != "" {
		t.Errorf("no panic is told as %q", why)
	}
	if why := run.Safely(func() { panic("x") }); !strings.Contains(why, "x") {
		t.Errorf("a panic is told as %q", why)
	}
}
