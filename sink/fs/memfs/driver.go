package memfs

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
)

// Driver is one connection to a Store.
type Driver struct {
	store  *Store
	closed atomic.Bool
}

var (
	_ target.Driver = (*Driver)(nil)
	_ target.Reader = (*Driver)(nil)
)

// Close ends this connection only. A second Close does nothing.
func (d *Driver) Close() error {
	d.closed.Store(true)
	return nil
}

// call says whether an operation may begin. A change asks for its path.
func (d *Driver) call(ctx context.Context, op, p string, change bool) error {
	switch {
	case d.closed.Load():
		return target.Closed(op, p)
	case ctx.Err() != nil:
		return &target.Error{Op: op, Path: p, Class: target.Unclear, Err: context.Cause(ctx)}
	}
	if err := target.CheckPath(op, p); err != nil {
		return err
	}
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	return d.store.admitLocked(op, p, change)
}

// admitLocked applies outages, safe mode and refusals to one operation.
func (s *Store) admitLocked(op, p string, change bool) error {
	if s.down != nil {
		return &target.Error{Op: op, Path: p, Class: target.Target, Err: s.down}
	}
	if !change {
		return nil
	}
	if s.readOnly != nil {
		return &target.Error{Op: op, Path: p, Class: target.Target, Err: s.readOnly}
	}
	for prefix, err := range s.refused {
		if below(p, prefix) {
			return &target.Error{Op: op, Path: p, Class: target.Path, Err: err}
		}
	}
	return nil
}

func below(p, prefix string) bool {
	return p == prefix || prefix == "/" || strings.HasPrefix(p, prefix+"/")
}

// failed wraps an errno of the tree with its class.
func failed(op, p string, err error) error {
	class := target.Path
	switch {
	case errors.Is(err, fs.ErrExist):
		class = target.Exists
	case errors.Is(err, fs.ErrNotExist):
		class = target.Missing
	}
	return &target.Error{Op: op, Path: p, Class: class, Err: err}
}
