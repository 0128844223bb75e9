package faultfs

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Put hands inner a source that decides on each slice and on the close. Errors
// of inner itself pass; an injected one replaces what inner made of it.
func (f *FS) Put(ctx context.Context, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
	create := Call{Op: PutCreate, Path: temp}
	a, err := f.decide(ctx, create)
	if err != nil {
		return fs.Info{}, err
	}
	p := &put{f: f, ctx: ctx, src: src, path: temp, size: src.Size()}
	switch a.kind {
	case pass:
	case after:
		// Made, and nothing of it is known: the first read fails.
		p.fail(injected(create, a))
	default:
		return fs.Info{}, injected(create, a)
	}
	if p.size == 0 && p.failure() == nil {
		// Nothing is read of an empty source, so its close is decided on now.
		p.decideClose()
	}
	info, err := f.inner.Put(ctx, p, temp, o)
	if failure := p.failure(); failure != nil && (err == nil || errors.Is(err, failure)) {
		return fs.Info{}, failure
	}
	if err != nil {
		return fs.Info{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost != nil {
		return fs.Info{}, p.lost
	}
	return info, nil
}

// put is the source of one Put.
type put struct {
	f    *FS
	ctx  context.Context
	src  fs.Source
	path string
	size int64

	mu     sync.Mutex
	failed error // why reads fail, injected
	lost   error // what to answer although all went well
}

func (p *put) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

func (p *put) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// Size is one byte more than there is if an empty file must not be closed: that
// byte's read fails.
func (p *put) Size() int64 {
	if p.size == 0 && p.failure() != nil {
		return 1
	}
	return p.size
}

// ReadAt decides on the slice, and on the close once the last slice is read.
// Bytes that come with an error were written before it: a driver writes what it
// got.
func (p *put) ReadAt(b []byte, off int64) (int, error) {
	if err := p.failure(); err != nil {
		return 0, err
	}
	if off >= p.size {
		return 0, io.EOF
	}
	want := min(int64(len(b)), p.size-off)
	c := Call{Op: PutWrite, Path: p.path, Offset: off, Length: want}
	a, err := p.f.decide(p.ctx, c)
	if err != nil {
		p.fail(err)
		return 0, err
	}
	switch a.kind {
	case pass, after:
	case half:
		want = min(want, max(a.bytes, 0))
	default:
		want = 0
	}
	n, err := p.src.ReadAt(b[:want], off)
	if a.kind != pass {
		p.fail(injected(c, a))
		return n, p.failure()
	}
	if (err == nil || err == io.EOF) && off+int64(n) == p.size {
		p.decideClose()
		if failure := p.failure(); failure != nil {
			return n, failure
		}
	}
	if err == nil && n < len(b) {
		err = io.EOF // the end of the source cut b short
	}
	return n, err
}

// decideClose decides on PutClose while there is still a way to prevent it.
func (p *put) decideClose() {
	c := Call{Op: PutClose, Path: p.path}
	a, err := p.f.decide(p.ctx, c)
	switch {
	case err != nil:
		p.fail(err)
	case a.kind == after:
		p.mu.Lock()
		p.lost = injected(c, a)
		p.mu.Unlock()
	case a.kind != pass:
		p.fail(injected(c, a))
	}
}
