package faultfs

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Driver is a Driver on whose operations an Injector decides.
type Driver struct {
	inner fs.Driver

	mu    sync.Mutex
	inj   Injector
	calls []Call
	late  []func() error // effects that are still to come, in order
}

var _ fs.Driver = (*Driver)(nil)

// New wraps inner. Closing the Driver closes inner.
func New(inner fs.Driver, inj Injector) *Driver { return &Driver{inner: inner, inj: inj} }

// Ops is how many operations were asked for.
func (d *Driver) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.calls)
}

// Calls returns the operations that were asked for, in order.
func (d *Driver) Calls() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Call(nil), d.calls...)
}

// Land lets all late operations take effect now, in the order in which they
// were asked for, and returns their answers, which nobody else hears.
func (d *Driver) Land() []error {
	d.mu.Lock()
	landing := d.late
	d.late = nil
	d.mu.Unlock()
	answers := make([]error, len(landing))
	for i, act := range landing {
		answers[i] = act()
	}
	return answers
}

// Close isn't an operation: it always reaches inner.
func (d *Driver) Close() error { return d.inner.Close() }

// decide numbers an operation and asks the Injector, and waits if that is the
// answer. The Action that it returns is to be done.
func (d *Driver) decide(ctx context.Context, c Call) (Action, error) {
	d.mu.Lock()
	c.N = len(d.calls)
	d.calls = append(d.calls, c)
	a := d.inj.Decide(c)
	d.mu.Unlock()

	a, err := a.Wait(ctx)
	if err != nil {
		return a, &fs.Error{Op: c.Op.String(), Path: c.Path, Class: fs.Unclear, Err: err}
	}
	return a, nil
}

// injected is the error of an Action on an operation.
func injected(c Call, a Action) error {
	cause := classified{fs.Unclear, a.Err}
	_ = errors.As(a.Err, &cause)
	return &fs.Error{Op: c.Op.String(), Path: c.Path, Class: cause.class, Err: cause.err}
}

// orInjected is err, or the Action's without one.
func orInjected(err error, c Call, a Action) error {
	if err != nil {
		return err
	}
	return injected(c, a)
}

// run does an operation that is one call below. Only those that can come late
// have a postponed form.
func (d *Driver) run(ctx context.Context, c Call, do func() error, postponed func() error) error {
	a, err := d.decide(ctx, c)
	if err != nil {
		return err
	}
	switch a.Kind {
	case faults.Passes:
		return do()
	case faults.FailsAfter:
		if err := do(); err != nil {
			return err // it had no effect to hide
		}
	case faults.ComesLate:
		if postponed != nil {
			d.mu.Lock()
			d.late = append(d.late, postponed)
			d.mu.Unlock()
		}
	}
	return injected(c, a)
}

// Publish can fail in every way, and come late.
func (d *Driver) Publish(ctx context.Context, from fs.Info, final string, o fs.PublishOptions) error {
	do := func(ctx context.Context) func() error {
		return func() error { return d.inner.Publish(ctx, from, final, o) }
	}
	return d.run(ctx, Call{Op: Publish, Path: from.Path, To: final}, do(ctx), do(context.WithoutCancel(ctx)))
}

// Discard can fail in every way, and come late.
func (d *Driver) Discard(ctx context.Context, hidden string) error {
	do := func(ctx context.Context) func() error {
		return func() error { return d.inner.Discard(ctx, hidden) }
	}
	return d.run(ctx, Call{Op: Discard, Path: hidden}, do(ctx), do(context.WithoutCancel(ctx)))
}

// Stat answers nothing if it fails.
func (d *Driver) Stat(ctx context.Context, path string) (info fs.Info, err error) {
	err = d.run(ctx, Call{Op: Stat, Path: path}, func() (err error) {
		info, err = d.inner.Stat(ctx, path)
		return err
	}, nil)
	if err != nil {
		return fs.Info{}, err
	}
	return info, nil
}

// Open opens nothing if it fails, unless it does so half way: then reading fails.
func (d *Driver) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	c := Call{Op: Open, Path: path}
	a, err := d.decide(ctx, c)
	half := err == nil && a.Kind == faults.FailsHalf
	if !half && (err != nil || a.Kind != faults.Passes) {
		return nil, orInjected(err, c, a)
	}
	r, err := d.inner.Open(ctx, path)
	if err != nil || !half {
		return r, err
	}
	return &cutReader{ReadCloser: r, left: a.Bytes, err: injected(c, a)}, nil
}

// cutReader fails after some bytes.
type cutReader struct {
	io.ReadCloser
	left int64
	err  error
}

func (r *cutReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err == nil && r.left == 0 {
		err = r.err
	}
	return n, err
}

// Locate has two operations. Failing LocateBegin in any way keeps inner from
// being asked; failing LocateEnd in any way voids the answer that it gave.
func (d *Driver) Locate(ctx context.Context, id fs.FileID, names ...string) (fs.Place, error) {
	c := Call{Op: LocateBegin}
	if len(names) > 0 {
		c.Path = names[0]
	}
	if a, err := d.decide(ctx, c); err != nil || a.Kind != faults.Passes {
		return fs.Place{}, orInjected(err, c, a)
	}
	place, err := d.inner.Locate(ctx, id, names...)
	c.Op = LocateEnd
	a, endErr := d.decide(ctx, c)
	switch {
	case err != nil:
		return fs.Place{}, err
	case endErr != nil || a.Kind != faults.Passes:
		return fs.Place{}, orInjected(endErr, c, a)
	}
	return place, nil
}
