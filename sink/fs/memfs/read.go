package memfs

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"syscall"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
)

// List describes the entries of a directory.
func (d *Driver) List(ctx context.Context, p string) ([]target.Info, error) {
	if err := d.call(ctx, "list", p, false); err != nil {
		return nil, err
	}
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	n, err := d.store.walkLocked(p)
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

// Open opens a file as it is now: its reader sees no later change.
func (d *Driver) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	if err := d.call(ctx, "open", p, false); err != nil {
		return nil, err
	}
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	n, err := d.store.fileLocked(p)
	if err != nil {
		return nil, failed("open", p, err)
	}
	return &reader{ctx: ctx, path: p, content: bytes.NewReader(n.content)}, nil
}

// reader reads what a file held when it was opened, under a ctx.
type reader struct {
	ctx     context.Context
	path    string
	content *bytes.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, &target.Error{Op: "read", Path: r.path, Class: target.Unclear, Err: context.Cause(r.ctx)}
	}
	return r.content.Read(p)
}

func (r *reader) Close() error { return nil }
