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

// Stat describes what p leads to. A symbolic link that leads nowhere describes
// itself: there is something at p.
func (f *FileSystem) Stat(ctx context.Context, p string) (fs.Info, error) {
	if err := f.begin(ctx, "stat", p); err != nil {
		return fs.Info{}, err
	}
	return stat("stat", p)
}

func stat(op, p string) (fs.Info, error) {
	st, err := statx(p, false)
	if err == nil && isSymlink(st) {
		if led, ledErr := statx(p, true); ledErr == nil {
			st = led
		} else if ledErr != unix.ENOENT {
			err = ledErr
		}
	}
	if err != nil {
		return fs.Info{}, failed(op, p, err, false)
	}
	return info(p, st), nil
}

// Settle needs no bracket on a local disk, which has one state only. A network
// file system is made to forget what it has cached of dir by syncing it.
func (f *FileSystem) Settle(ctx context.Context, dir string, view func(context.Context, fs.Viewer) error) error {
	if err := f.begin(ctx, "settle", dir); err != nil {
		return err
	}
	// A directory that isn't there, or isn't ours to open, has no names that we
	// could have made and cached.
	err := f.kernel.syncDir(dir)
	if err != nil && !notOurs(err) && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
		return failed("settle", dir, err, false)
	}
	return view(ctx, f)
}

// Open opens a regular file. Reads end with ctx.
func (f *FileSystem) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	if err := f.begin(ctx, "open", p); err != nil {
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
func (f *FileSystem) List(ctx context.Context, p string) ([]fs.Info, error) {
	if err := f.begin(ctx, "list", p); err != nil {
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

// Remove unlinks p and syncs its directory, so that it doesn't come back after
// a loss of power.
func (f *FileSystem) Remove(ctx context.Context, p string) error {
	if err := f.begin(ctx, "remove", p); err != nil {
		return err
	}
	st, err := statx(p, false)
	if err == nil && isDir(st) {
		err = unix.EISDIR // unlink may answer EPERM, depending on the file system
	}
	if err == nil {
		err = f.kernel.unlink(p)
	}
	if err != nil {
		return failed("remove", p, err, true)
	}
	if err := f.kernel.syncDir(path.Dir(p)); err != nil {
		return unclear("remove", p, err)
	}
	return nil
}
