// Package run starts the goroutines of an owner and waits for them, turns a
// panic into a value, and lets goroutines wait for each other's conditions.
//
// It knows nothing of what the goroutines do. A goroutine of a Group must keep
// what it has in hand where its next life finds it, since a panic ends only the
// life in which it happens.
package run

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Group is a set of goroutines with one owner, who ends them by the context and
// waits for them with Wait. It is safe for concurrent use.
type Group struct {
	ctx context.Context // handed to each goroutine
	log *slog.Logger
	all sync.WaitGroup
}

// NewGroup returns an empty Group whose goroutines get ctx. Several groups may
// share one context.
func NewGroup(ctx context.Context, log *slog.Logger) *Group { return &Group{ctx: ctx, log: log} }

// restartAfter is how long a goroutine that panicked waits before it begins
// anew, so that a panic which repeats at once fills no log.
const restartAfter = time.Second

// Go calls f on a goroutine of its own. A panic in f is a bug: it is logged
// under the name, and f is called again until it returns or the context ends.
func (g *Group) Go(name string, f func(ctx context.Context)) {
	g.all.Go(func() {
		for !g.once(name, f) && g.ctx.Err() == nil {
			Sleep(g.ctx, restartAfter)
		}
	})
}

func (g *Group) once(name string, f func(ctx context.Context)) (returned bool) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("bug: a goroutine panicked and begins anew; please report this",
				"goroutine", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f(g.ctx)
	return true
}

// Wait returns when every goroutine has ended.
func (g *Group) Wait() { g.all.Wait() }

// Safely calls f and returns what it panicked with, "" if it didn't.
func Safely(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprintf("bug: panic while decoding: %v", p)
		}
	}()
	f()
	return ""
}

// Sleep waits for d or the end of ctx.
func Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Every calls f at once and then every d, until ctx ends.
func Every(ctx context.Context, d time.Duration, f func(ctx context.Context)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for ctx.Err() == nil {
		f(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
