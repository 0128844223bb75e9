package localfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// kernel is what a Driver asks of the operating system where the answer
// depends on what is mounted, or where a failure matters: tests put file
// systems in its place that can't do some of it, and disks that fail.
type kernel struct {
	// renameNoReplace answers EEXIST if there is anything at to.
	renameNoReplace func(from, to string) error
	link            func(from, to string) error
	unlink          func(path string) error
	// copyRange copies up to n bytes from src's offset off to dst's own
	// position.
	copyRange func(dst, src *os.File, off int64, n int) (int, error)
	// writeback has the disk begin to write a range. wait waits until it has
	// written what it began of one: an error that the sync would have reported
	// is reported here and then no more.
	writeback, wait func(f *os.File, off, n int64) error
	sync            func(f *os.File) error
	syncDir         func(path string) error
}

var linux = kernel{
	renameNoReplace: func(from, to string) error {
		return again(func() error {
			return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
		})
	},
	link: func(from, to string) error {
		return again(func() error { return unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0) })
	},
	unlink:    func(path string) error { return again(func() error { return unix.Unlink(path) }) },
	copyRange: copyRange,
	writeback: func(f *os.File, off, n int64) error { return syncRange(f, off, n, unix.SYNC_FILE_RANGE_WRITE) },
	wait:      func(f *os.File, off, n int64) error { return syncRange(f, off, n, unix.SYNC_FILE_RANGE_WAIT_BEFORE) },
	sync:      (*os.File).Sync,
	syncDir:   syncDir,
}

// again repeats a system call that a signal interrupted before it did anything:
// the runtime preempts goroutines with signals.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func copyRange(dst, src *os.File, off int64, n int) (int, error) {
	from, err := src.SyscallConn()
	if err != nil {
		return 0, err
	}
	to, err := dst.SyscallConn()
	if err != nil {
		return 0, err
	}
	var copied int
	var failure error
	copyInto := func(out uintptr) {
		err := from.Control(func(in uintptr) {
			failure = again(func() (err error) {
				at := off
				copied, err = unix.CopyFileRange(int(in), &at, int(out), nil, n, 0)
				return err
			})
		})
		if err != nil {
			failure = err
		}
	}
	if err := to.Control(copyInto); err != nil {
		return 0, err
	}
	return max(copied, 0), failure
}

// syncRange does nothing where the file system knows no ranges.
func syncRange(f *os.File, off, n int64, flags int) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = c.Control(func(fd uintptr) {
		failure = again(func() error { return unix.SyncFileRange(int(fd), off, n, flags) })
	})
	switch failure {
	case unix.ENOSYS, unix.EINVAL, unix.ESPIPE, unix.EOPNOTSUPP:
		failure = nil
	}
	return errors.Join(err, failure)
}

func syncDir(path string) error {
	d, err := os.OpenFile(path, unix.O_DIRECTORY|os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer d.Close() // it was only read
	return d.Sync()
}
