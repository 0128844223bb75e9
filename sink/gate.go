package sink

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// gate stands before every operation on the staging directory and on the
// targets. Once it is closed none begins any more, whoever still runs: a
// successor may have the state directory by then.
type gate struct{ closed atomic.Bool }

// errStopped is the answer to what would begin after the gate was closed.
var errStopped = errors.New("the sink is closed")

func (g *gate) close() { g.closed.Store(true) }

func (g *gate) pass() error {
	if g.closed.Load() {
		return errStopped
	}
	return nil
}

// passTo is pass for an operation on a target.
func (g *gate) passTo(op, path string) error {
	if g.closed.Load() {
		return &fs.Error{Op: op, Path: path, Class: fs.Target, Err: errStopped}
	}
	return nil
}

// gatedDisk is the disk as staging sees it.
type gatedDisk struct {
	disk.Disk
	gate *gate
}

func (d *gatedDisk) Create(name string) (disk.File, error) {
	if err := d.gate.pass(); err != nil {
		return nil, err
	}
	f, err := d.Disk.Create(name)
	if err != nil {
		return nil, err
	}
	return &gatedFile{f, d.gate}, nil
}

func (d *gatedDisk) Open(name string) (disk.File, error) {
	if err := d.gate.pass(); err != nil {
		return nil, err
	}
	f, err := d.Disk.Open(name)
	if err != nil {
		return nil, err
	}
	return &gatedFile{f, d.gate}, nil
}

func (d *gatedDisk) Remove(name string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.Remove(name)
}

func (d *gatedDisk) Rename(from, to string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.Rename(from, to)
}

func (d *gatedDisk) Mkdir(name string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.Mkdir(name)
}

func (d *gatedDisk) SyncDir(name string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.SyncDir(name)
}

// gatedFile is a staged file. Close always reaches it.
type gatedFile struct {
	disk.File
	gate *gate
}

func (f *gatedFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.gate.pass(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *gatedFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.gate.pass(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f *gatedFile) Truncate(size int64) error {
	if err := f.gate.pass(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *gatedFile) Sync() error {
	if err := f.gate.pass(); err != nil {
		return err
	}
	return f.File.Sync()
}

// OSFile is the file below, nil if it is none of the operating system's.
func (f *gatedFile) OSFile() *os.File {
	if o, ok := f.File.(interface{ OSFile() *os.File }); ok {
		return o.OSFile()
	}
	return nil
}

// gatedViewer is a target's read-only side.
type gatedViewer struct {
	viewer fs.Viewer
	gate   *gate
}

func (v gatedViewer) Stat(ctx context.Context, path string) (fs.Info, error) {
	if err := v.gate.passTo("stat", path); err != nil {
		return fs.Info{}, err
	}
	return v.viewer.Stat(ctx, path)
}

func (v gatedViewer) Find(ctx context.Context, id fs.FileID) (fs.Info, error) {
	if err := v.gate.passTo("find", string(id)); err != nil {
		return fs.Info{}, err
	}
	return v.viewer.Find(ctx, id)
}

// gatedFS is a target as commits see it. Close always reaches it.
type gatedFS struct {
	gatedViewer
	fs fs.FileSystem
}

var _ fs.FileSystem = (*gatedFS)(nil)

func newGatedFS(f fs.FileSystem, g *gate) *gatedFS { return &gatedFS{gatedViewer{f, g}, f} }

func (f *gatedFS) Put(ctx context.Context, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
	if err := f.gate.passTo("put", temp); err != nil {
		return fs.Info{}, err
	}
	return f.fs.Put(ctx, src, temp, o)
}

func (f *gatedFS) Rename(ctx context.Context, from, to string, o fs.PutOptions) error {
	if err := f.gate.passTo("rename", from); err != nil {
		return err
	}
	return f.fs.Rename(ctx, from, to, o)
}

func (f *gatedFS) Settle(ctx context.Context, dir string, view func(context.Context, fs.Viewer) error) error {
	if err := f.gate.passTo("settle", dir); err != nil {
		return err
	}
	return f.fs.Settle(ctx, dir, func(ctx context.Context, v fs.Viewer) error {
		return view(ctx, gatedViewer{v, f.gate})
	})
}

func (f *gatedFS) Remove(ctx context.Context, path string) error {
	if err := f.gate.passTo("remove", path); err != nil {
		return err
	}
	return f.fs.Remove(ctx, path)
}

func (f *gatedFS) MkdirAll(ctx context.Context, path string, mode uint32) error {
	if err := f.gate.passTo("mkdir", path); err != nil {
		return err
	}
	return f.fs.MkdirAll(ctx, path, mode)
}

func (f *gatedFS) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := f.gate.passTo("open", path); err != nil {
		return nil, err
	}
	return f.fs.Open(ctx, path)
}

func (f *gatedFS) List(ctx context.Context, path string) ([]fs.Info, error) {
	if err := f.gate.passTo("list", path); err != nil {
		return nil, err
	}
	return f.fs.List(ctx, path)
}

func (f *gatedFS) Close() error { return f.fs.Close() }
