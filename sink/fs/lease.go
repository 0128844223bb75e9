package fs

import (
	"context"
	"io"
	"sync/atomic"
)

// lease is one acquirer's use of a pooled client: all its calls pass through
// until Close, and Close gives the reference back. Calls that are under way
// then go on; if it was the last reference, on a client that is being closed.
type lease struct {
	registry *Registry
	key      string
	pooled   *pooled
	closed   atomic.Bool
}

var _ FileSystem = (*lease)(nil)

// use returns the client, unless the lease was closed.
func (l *lease) use(op, path string) (FileSystem, error) {
	if l.closed.Load() {
		return nil, Closed(op, path)
	}
	return l.pooled.fs, nil
}

func (l *lease) Put(ctx context.Context, src Source, temp string, o PutOptions) (Info, error) {
	f, err := l.use("put", temp)
	if err != nil {
		return Info{}, err
	}
	return f.Put(ctx, src, temp, o)
}

func (l *lease) Rename(ctx context.Context, from, to string, o PutOptions) error {
	f, err := l.use("rename", from)
	if err != nil {
		return err
	}
	return f.Rename(ctx, from, to, o)
}

func (l *lease) Stat(ctx context.Context, path string) (Info, error) {
	f, err := l.use("stat", path)
	if err != nil {
		return Info{}, err
	}
	return f.Stat(ctx, path)
}

func (l *lease) Find(ctx context.Context, id FileID) (Info, error) {
	f, err := l.use("find", string(id))
	if err != nil {
		return Info{}, err
	}
	return f.Find(ctx, id)
}

func (l *lease) Settle(ctx context.Context, dir string, view func(context.Context, Viewer) error) error {
	f, err := l.use("settle", dir)
	if err != nil {
		return err
	}
	return f.Settle(ctx, dir, view)
}

func (l *lease) Remove(ctx context.Context, path string) error {
	f, err := l.use("remove", path)
	if err != nil {
		return err
	}
	return f.Remove(ctx, path)
}

func (l *lease) MkdirAll(ctx context.Context, path string, mode uint32) error {
	f, err := l.use("mkdir", path)
	if err != nil {
		return err
	}
	return f.MkdirAll(ctx, path, mode)
}

func (l *lease) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := l.use("open", path)
	if err != nil {
		return nil, err
	}
	return f.Open(ctx, path)
}

func (l *lease) List(ctx context.Context, path string) ([]Info, error) {
	f, err := l.use("list", path)
	if err != nil {
		return nil, err
	}
	return f.List(ctx, path)
}

// Close gives the reference back. A second Close does nothing.
func (l *lease) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	return l.registry.release(l.key, l.pooled)
}
