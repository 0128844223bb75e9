package memfs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
)

// Client is one connection to a Store.
type Client struct {
	store  *Store
	closed atomic.Bool
}

var _ target.FileSystem = (*Client)(nil)

// Close ends this client only. A second Close does nothing.
func (c *Client) Close() error {
	c.closed.Store(true)
	return nil
}

// call says whether an operation may begin. A change asks for its path.
func (c *Client) call(ctx context.Context, op, p string, change bool) error {
	switch {
	case c.closed.Load():
		return target.Closed(op, p)
	case ctx.Err() != nil:
		return &target.Error{Op: op, Path: p, Class: target.Unclear, Err: context.Cause(ctx)}
	}
	if op != "find" {
		if err := target.CheckPath(op, p); err != nil {
			return err
		}
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return c.store.admitLocked(op, p, change)
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

func (c *Client) Rename(ctx context.Context, from, to string, o target.PutOptions) error {
	if err := c.call(ctx, "rename", from, true); err != nil {
		return err
	}
	if err := c.call(ctx, "rename", to, true); err != nil {
		return err
	}
	if err := c.store.rename(from, to, o); err != nil {
		return failed("rename", from+" to "+to, err)
	}
	return nil
}

func (s *Store) rename(from, to string, o target.PutOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.walkLocked(from)
	switch {
	case err != nil:
		return err
	case n.children != nil:
		return syscall.EISDIR
	case len(path.Base(to)) > maxName:
		return syscall.ENAMETOOLONG
	case to == "/":
		return syscall.EEXIST
	}
	dir, err := s.mkdirLocked(path.Dir(to), o.DirMode)
	if err != nil {
		return err
	}
	if dir.children[path.Base(to)] != nil {
		return syscall.EEXIST
	}
	n.moveLocked(dir, path.Base(to))
	return nil
}

func (c *Client) Remove(ctx context.Context, p string) error {
	if err := c.call(ctx, "remove", p, true); err != nil {
		return err
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	n, err := c.store.walkLocked(p)
	if err == nil && n.children != nil {
		err = syscall.EISDIR
	}
	if err != nil {
		return failed("remove", p, err)
	}
	c.store.dropLocked(n)
	return nil
}

func (c *Client) MkdirAll(ctx context.Context, p string, mode uint32) error {
	if err := c.call(ctx, "mkdir", p, true); err != nil {
		return err
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if _, err := c.store.mkdirLocked(p, mode); err != nil {
		return failed("mkdir", p, err)
	}
	return nil
}

func (c *Client) Stat(ctx context.Context, p string) (target.Info, error) {
	if err := c.call(ctx, "stat", p, false); err != nil {
		return target.Info{}, err
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	n, err := c.store.walkLocked(p)
	if err != nil {
		return target.Info{}, failed("stat", p, err)
	}
	return n.info(), nil
}

func (c *Client) Find(ctx context.Context, id target.FileID) (target.Info, error) {
	if err := c.call(ctx, "find", string(id), false); err != nil {
		return target.Info{}, err
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.store.o.NoFind {
		return target.Info{}, &target.Error{Op: "find", Path: string(id), Class: target.Unsupported, Err: errors.ErrUnsupported}
	}
	n := c.store.byID[id]
	if n == nil || n.children != nil {
		return target.Info{}, failed("find", string(id), syscall.ENOENT)
	}
	return n.info(), nil
}

// Settle asks before and after view whether changes in dir are possible, as the
// marker that HDFS needs would.
func (c *Client) Settle(ctx context.Context, dir string, view func(context.Context, target.Viewer) error) error {
	if err := c.call(ctx, "settle", dir, true); err != nil {
		return err
	}
	if err := view(ctx, c); err != nil {
		return err
	}
	return c.call(ctx, "settle", dir, true)
}

func (c *Client) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	if err := c.call(ctx, "open", p, false); err != nil {
		return nil, err
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	n, err := c.store.walkLocked(p)
	if err == nil && n.children != nil {
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, failed("open", p, err)
	}
	return io.NopCloser(bytes.NewReader(n.content)), nil
}

func (c *Client) List(ctx context.Context, p string) ([]target.Info, error) {
	if err := c.call(ctx, "list", p, false); err != nil {
		return nil, err
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	n, err := c.store.walkLocked(p)
	if err == nil && n.children == nil {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, failed("list", p, err)
	}
	infos := make([]target.Info, 0, len(n.children))
	for _, child := range n.children {
		infos = append(infos, child.info())
	}
	slices.SortFunc(infos, func(a, b target.Info) int { return strings.Compare(a.Path, b.Path) })
	return infos, nil
}
