package faultfs

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// FS is a FileSystem whose operations an Injector decides on.
type FS struct {
	inner fs.FileSystem

	mu    sync.Mutex
	inj   Injector
	calls []Call
	late  []func() error // effects that are still to come, in order
}

var _ fs.FileSystem = (*FS)(nil)

// New wraps inner. Closing the FS closes inner.
func New(inner fs.FileSystem, inj Injector) *FS { return &FS{inner: inner, inj: inj} }

// Ops is how many operations were asked for.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// Calls returns the operations that were asked for, in order.
func (f *FS) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Call(nil), f.calls...)
}

// Land lets all late operations take effect now, in the order in which they
// were asked for, and returns their answers, which nobody else hears.
func (f *FS) Land() []error {
	f.mu.Lock()
	pending := f.late
	f.late = nil
	f.mu.Unlock()
	answers := make([]error, len(pending))
	for i, act := range pending {
		answers[i] = act()
	}
	return answers
}

// Close isn't an operation: it always reaches inner.
func (f *FS) Close() error { return f.inner.Close() }

// decide numbers an operation and asks the Injector, and waits if that is the
// answer. The Action that it returns is to be done.
func (f *FS) decide(ctx context.Context, c Call) (Action, error) {
	f.mu.Lock()
	c.N = len(f.calls)
	f.calls = append(f.calls, c)
	a := f.inj.Decide(c)
	f.mu.Unlock()

	var over <-chan time.Time
	switch a.kind {
	case hang:
	case delay:
		timer := time.NewTimer(a.delay)
		defer timer.Stop()
		over = timer.C
	default:
		return a, nil
	}
	select {
	case <-a.release:
	case <-over:
	case <-ctx.Done():
		return a, &fs.Error{Op: c.Op.String(), Path: c.Path, Class: fs.Unclear, Err: context.Cause(ctx)}
	}
	return Pass(), nil
}

// injected is the error of an Action on an operation.
func injected(c Call, a Action) error {
	return &fs.Error{Op: c.Op.String(), Path: c.Path, Class: a.class, Err: a.err}
}

// run does an operation that is one call below. Only those that can come late
// have a postponed form.
func (f *FS) run(ctx context.Context, c Call, do func() error, postponed func() error) error {
	a, err := f.decide(ctx, c)
	if err != nil {
		return err
	}
	switch a.kind {
	case pass:
		return do()
	case after:
		if err := do(); err != nil {
			return err // it had no effect to hide
		}
	case late:
		if postponed != nil {
			f.mu.Lock()
			f.late = append(f.late, postponed)
			f.mu.Unlock()
		}
	}
	return injected(c, a)
}

func (f *FS) Rename(ctx context.Context, from, to string, o fs.PutOptions) error {
	do := func(ctx context.Context) func() error {
		return func() error { return f.inner.Rename(ctx, from, to, o) }
	}
	return f.run(ctx, Call{Op: Rename, Path: from, To: to}, do(ctx), do(context.WithoutCancel(ctx)))
}

func (f *FS) Remove(ctx context.Context, path string) error {
	do := func(ctx context.Context) func() error { return func() error { return f.inner.Remove(ctx, path) } }
	return f.run(ctx, Call{Op: Remove, Path: path}, do(ctx), do(context.WithoutCancel(ctx)))
}

func (f *FS) MkdirAll(ctx context.Context, path string, mode uint32) error {
	do := func(ctx context.Context) func() error {
		return func() error { return f.inner.MkdirAll(ctx, path, mode) }
	}
	return f.run(ctx, Call{Op: MkdirAll, Path: path}, do(ctx), do(context.WithoutCancel(ctx)))
}

func (f *FS) Stat(ctx context.Context, path string) (fs.Info, error) {
	return f.stat(ctx, f.inner, path)
}

func (f *FS) Find(ctx context.Context, id fs.FileID) (fs.Info, error) {
	return f.find(ctx, f.inner, id)
}

func (f *FS) stat(ctx context.Context, v fs.Viewer, path string) (info fs.Info, err error) {
	return answer(f, ctx, Call{Op: Stat, Path: path}, func() (fs.Info, error) { return v.Stat(ctx, path) })
}

func (f *FS) find(ctx context.Context, v fs.Viewer, id fs.FileID) (info fs.Info, err error) {
	return answer(f, ctx, Call{Op: Find, Path: string(id)}, func() (fs.Info, error) { return v.Find(ctx, id) })
}

func (f *FS) List(ctx context.Context, path string) ([]fs.Info, error) {
	return answer(f, ctx, Call{Op: List, Path: path}, func() ([]fs.Info, error) { return f.inner.List(ctx, path) })
}

// Open fails like any operation; what it returns reads undisturbed.
func (f *FS) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	var opened io.ReadCloser
	r, err := answer(f, ctx, Call{Op: Open, Path: path}, func() (r io.ReadCloser, err error) {
		opened, err = f.inner.Open(ctx, path)
		return opened, err
	})
	if err != nil && opened != nil {
		err = errors.Join(err, opened.Close()) // the answer that was lost
	}
	return r, err
}

// answer is run for operations that return something, which an error voids.
func answer[T any](f *FS, ctx context.Context, c Call, do func() (T, error)) (T, error) {
	var got, none T
	err := f.run(ctx, c, func() (err error) { got, err = do(); return err }, nil)
	if err != nil {
		return none, err
	}
	return got, nil
}

// viewer is a Viewer whose operations are decided on, too.
type viewer struct {
	f *FS
	v fs.Viewer
}

func (v viewer) Stat(ctx context.Context, path string) (fs.Info, error) {
	return v.f.stat(ctx, v.v, path)
}

func (v viewer) Find(ctx context.Context, id fs.FileID) (fs.Info, error) {
	return v.f.find(ctx, v.v, id)
}

// Settle has two operations of its own, one for each end of the bracket.
// Failing SettleEnd in any way makes view's answer worthless after it was
// given.
func (f *FS) Settle(ctx context.Context, dir string, view func(context.Context, fs.Viewer) error) error {
	enter := func() error {
		return f.inner.Settle(ctx, dir, func(ctx context.Context, v fs.Viewer) error {
			err := view(ctx, viewer{f, v})
			c := Call{Op: SettleEnd, Path: dir}
			a, endErr := f.decide(ctx, c)
			switch {
			case err != nil:
				return err
			case endErr != nil:
				return endErr
			case a.kind != pass:
				return injected(c, a)
			}
			return nil
		})
	}
	c := Call{Op: SettleBegin, Path: dir}
	a, err := f.decide(ctx, c)
	switch {
	case err != nil:
		return err
	case a.kind != pass:
		// Whether the marker was made or not, view isn't called.
		return injected(c, a)
	}
	return enter()
}
