// Package localfs is the driver for file://: a directory of this machine, on a
// local disk or on whatever is mounted there.
//
// What it answers nil for is synced: content with fsync, names with an fsync of
// their directory, directories that it made with one of their parents'. It
// never replaces a file, and touches only the paths it is given and the
// directories above them.
//
// A file's identity is its inode number and its birth time, since inode numbers
// are given out again at once. Two files that had one inode one after the other
// within a tick of the kernel's clock (10 ms at most) can't be told apart. On a
// file system that records no birth time the identity is the inode number
// alone, and only length and modification time tell such files apart. Device
// numbers are no part of it, they change from one boot to the next.
//
// ctx is looked at between system calls. A call that hangs, as on NFS without
// its server, can't be interrupted and returns when the kernel lets it.
package localfs

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Options of a Driver. The zero value is right nearly everywhere.
type Options struct {
	// NoKernelCopy makes Upload copy through memory instead of copy_file_range,
	// for file systems whose block cloning isn't to be trusted.
	NoKernelCopy bool
}

// Driver is this machine's file system. Make one with New.
type Driver struct {
	o       Options
	kernel  kernel
	durable durable
	closed  atomic.Bool
}

var (
	_ fs.Driver = (*Driver)(nil)
	_ fs.Reader = (*Driver)(nil)
)

// New returns a Driver. It holds nothing open between calls.
func New(o Options) *Driver { return &Driver{o: o, kernel: linux} }

// Opener opens file:// targets.
type Opener struct{ Options Options }

var _ fs.Opener = Opener{}

// Open returns a new Driver. Only this machine can be meant: an authority is
// what file:// followed by a relative path looks like.
func (o Opener) Open(_ context.Context, authority string, _ fs.Options) (fs.Driver, error) {
	if authority != "" && authority != "localhost" {
		return nil, &fs.Error{Op: "open", Path: "file://" + authority, Class: fs.Unsupported,
			Err: fmt.Errorf("%q is taken for a host, and file:// is this machine only; a path has three slashes: file:///%s", authority, authority)}
	}
	return New(o.Options), nil
}

// Close makes later calls fail. Calls that are under way go on.
func (d *Driver) Close() error {
	d.closed.Store(true)
	return nil
}

// begin says whether an operation on p may begin.
func (d *Driver) begin(ctx context.Context, op, p string) error {
	if d.closed.Load() {
		return fs.Closed(op, p)
	}
	if ctx.Err() != nil {
		return ended(ctx, op, p)
	}
	return fs.CheckPath(op, p)
}

// ended is the error of an operation whose ctx ended.
func ended(ctx context.Context, op, p string) error {
	return &fs.Error{Op: op, Path: p, Class: fs.Unclear, Err: context.Cause(ctx)}
}
