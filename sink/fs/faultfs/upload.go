package faultfs

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Upload hands inner a source that decides on each slice and on the close. Errors
// of inner itself pass; an injected one replaces what inner made of it.
func (d *Driver) Upload(ctx context.Context, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
	create := Call{Op: UploadCreate, Path: hidden}
	a, err := d.decide(ctx, create)
	if err != nil {
		return fs.Info{}, err
	}
	u := &upload{d: d, ctx: ctx, src: src, path: hidden, size: src.Size()}
	switch a.Kind {
	case faults.Passes:
	case faults.FailsAfter:
		// Made, and nothing of it is known: the first read fails.
		u.fail(injected(create, a))
	default:
		return fs.Info{}, injected(create, a)
	}
	if u.size == 0 && u.failure() == nil {
		// Nothing is read of an empty source, so its close is decided on now.
		u.decideClose()
	}
	info, err := d.inner.Upload(ctx, u, hidden, o)
	if failure := u.failure(); failure != nil && (err == nil || errors.Is(err, failure)) {
		return fs.Info{}, failure
	}
	if err != nil {
		return fs.Info{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lost != nil {
		return fs.Info{}, u.lost
	}
	return info, nil
}

// upload is the source of one Upload.
type upload struct {
	d    *Driver
	ctx  context.Context
	src  fs.Source
	path string
	size int64

	mu     sync.Mutex
	failed error // why reads fail, injected
	lost   error // what to answer although all went well
}

func (u *upload) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed == nil {
		u.failed = err
	}
}

func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.failed
}

// Size is one byte more than there is if an empty file must not be closed: that
// byte's read fails.
func (u *upload) Size() int64 {
	if u.size == 0 && u.failure() != nil {
		return 1
	}
	return u.size
}

// ReadAt decides on the slice, and on the close once the last slice is read.
// Bytes that come with an error were written before it: a driver writes what it
// got.
func (u *upload) ReadAt(b []byte, off int64) (int, error) {
	if err := u.failure(); err != nil {
		return 0, err
	}
	if off >= u.size {
		return 0, io.EOF
	}
	want := min(int64(len(b)), u.size-off)
	c := Call{Op: UploadWrite, Path: u.path, Offset: off, Length: want}
	a, err := u.d.decide(u.ctx, c)
	if err != nil {
		u.fail(err)
		return 0, err
	}
	switch a.Kind {
	case faults.Passes, faults.FailsAfter:
	case faults.FailsHalf:
		want = min(want, max(a.Bytes, 0))
	default:
		want = 0
	}
	n, err := u.src.ReadAt(b[:want], off)
	if a.Kind != faults.Passes {
		u.fail(injected(c, a))
		return n, u.failure()
	}
	if (err == nil || err == io.EOF) && off+int64(n) == u.size {
		u.decideClose()
		if failure := u.failure(); failure != nil {
			return n, failure
		}
	}
	if err == nil && n < len(b) {
		err = io.EOF // the end of the source cut b short
	}
	return n, err
}

// decideClose decides on UploadClose while there is still a way to prevent it.
func (u *upload) decideClose() {
	c := Call{Op: UploadClose, Path: u.path}
	a, err := u.d.decide(u.ctx, c)
	switch {
	case err != nil:
		u.fail(err)
	case a.Kind == faults.FailsAfter:
		u.mu.Lock()
		u.lost = injected(c, a)
		u.mu.Unlock()
	case a.Kind != faults.Passes:
		u.fail(injected(c, a))
	}
}
