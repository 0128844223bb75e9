package localfs

import (
	"context"
	"errors"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Open opens a regular file. Reads end with ctx.
func (d *Driver) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	if err := d.begin(ctx, "open", p); err != nil {
		return nil, err
	}
	// Without O_NONBLOCK a FIFO would wait for its writer.
	r, err := os.OpenFile(p, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, failed("open", p, err, false)
	}
	st, err := r.Stat()
	switch {
	case err == nil && st.IsDir():
		err = unix.EISDIR
	case err == nil && !st.Mode().IsRegular():
		err = unix.EINVAL
	}
	if err != nil {
		return nil, errors.Join(failed("open", p, err, false), r.Close())
	}
	return &reader{ctx: ctx, f: r}, nil
}

// reader is an open file that is read under a ctx.
type reader struct {
	ctx context.Context
	f   *os.File
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, ended(r.ctx, "read", r.f.Name())
	}
	n, err := r.f.Read(p)
	if err != nil && err != io.EOF {
		err = failed("read", r.f.Name(), err, false)
	}
	return n, err
}

func (r *reader) Close() error { return r.f.Close() }

// List describes the entries of p. One that vanishes meanwhile is left out.
func (d *Driver) List(ctx context.Context, p string) ([]fs.Info, error) {
	if err := d.begin(ctx, "list", p); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(p) // in name order
	if err != nil {
		return nil, failed("list", p, err, false)
	}
	infos := make([]fs.Info, 0, len(entries))
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ended(ctx, "list", p)
		}
		i, err := stat("list", path.Join(p, e.Name()))
		if err != nil && fs.ClassOf(err) == fs.Missing {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, i)
	}
	return infos, nil
}
