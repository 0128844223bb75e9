package localfs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// durable remembers directories whose entries, and those of all above them, are
// known to be synced. Existing is not enough: whoever made a directory may not
// have come to syncing it, before a crash or because he is about to.
type durable struct {
	mu    sync.Mutex
	known map[string]fs.FileID // by path; the identity tells a new directory of the old name
}

// maxDurable bounds the memory. Forgetting costs some syncs.
const maxDurable = 4096

func (d *durable) has(p string, id fs.FileID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, ok := d.known[p]
	return ok && known == id
}

func (d *durable) add(p string, id fs.FileID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= maxDurable {
		d.known = map[string]fs.FileID{}
	}
	d.known[p] = id
}

// ensureDir returns nil once p is a directory and its entry and those of all
// directories above it are durable. New ones get mode, 0 leaving it to the
// umask.
func (d *Driver) ensureDir(op, p string, mode uint32) error {
	if p == "/" {
		return nil
	}
	st, err := statx(p, true)
	switch {
	case err == nil && !isDir(st):
		return failed(op, p, unix.ENOTDIR, false)
	case err == nil && d.durable.has(p, identity(st)):
		return nil
	case err != nil && err != unix.ENOENT:
		return failed(op, p, err, false)
	}
	missing := err != nil
	if len(path.Base(p)) > unix.NAME_MAX {
		return failed(op, p, unix.ENAMETOOLONG, false) // before any parent is made for it
	}
	if err := d.ensureDir(op, path.Dir(p), mode); err != nil {
		return err
	}
	if missing {
		if err := d.makeDir(op, p, mode); err != nil {
			return err
		}
	}
	if err := d.syncDir(path.Dir(p)); err != nil && (missing || !notOurs(err)) {
		return unclear(op, path.Dir(p), err)
	}
	if st, err = statx(p, true); err != nil {
		return dirFailed(op, p, err)
	}
	d.durable.add(p, identity(st))
	return nil
}

// makeDir makes one directory. Another may come first.
func (d *Driver) makeDir(op, p string, mode uint32) error {
	initial := mode | 0o700 // so that it can be opened
	if mode == 0 {
		initial = 0o777
	}
	err := again(func() error { return unix.Mkdir(p, initial) })
	if err == unix.EEXIST {
		if st, err := statx(p, true); err == nil && isDir(st) {
			return nil
		}
		return failed(op, p, unix.ENOTDIR, false)
	}
	if err != nil {
		return dirFailed(op, p, err)
	}
	made, err := os.OpenFile(p, unix.O_DIRECTORY|unix.O_NOFOLLOW|os.O_RDONLY, 0)
	if err != nil {
		return dirFailed(op, p, err)
	}
	defer made.Close() // it was only read
	if err := setMode(made, mode); err != nil {
		return failed(op, p, err, true)
	}
	if err := d.kernel.sync(made); err != nil {
		return unclear(op, p, err)
	}
	return nil
}

// dirFailed wraps what came between an operation and a directory that it needs.
// A directory that isn't there is no answer about the operation's own path, so
// it is never Missing.
func dirFailed(op, p string, err error) error {
	if errors.Is(err, unix.ENOENT) {
		return &fs.Error{Op: op, Path: p, Class: fs.Path,
			Err: fmt.Errorf("a directory above was removed meanwhile, or is a symbolic link that leads nowhere: %w", err)}
	}
	return failed(op, p, err, true)
}

// setMode gives an open file or directory its mode whatever the umask, except
// that a directory keeps the setgid bit that its parent handed down. A mode of
// 0 changes nothing.
func setMode(f *os.File, mode uint32) error {
	if mode == 0 {
		return nil
	}
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = c.Control(func(fd uintptr) {
		var st unix.Stat_t
		if failure = again(func() error { return unix.Fstat(int(fd), &st) }); failure != nil {
			return
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			mode |= st.Mode & unix.S_ISGID
		}
		failure = again(func() error { return unix.Fchmod(int(fd), mode&0o7777) })
		if failure == unix.EPERM {
			failure = errModeRefused
		}
	})
	return errors.Join(err, failure)
}

// errModeRefused is what SMB and other mounts without modes of their own answer
// to a chmod of the very file that was just made.
var errModeRefused error = modeRefused{}

type modeRefused struct{}

func (modeRefused) Error() string {
	return "the file system refuses to set a mode: " + unix.EPERM.Error()
}

func (modeRefused) Unwrap() error { return unix.EPERM }

// syncDir makes the names in a directory durable. Where the file system knows no
// fsync of a directory, as some FUSE and CIFS mounts do, there is nothing to sync.
func (d *Driver) syncDir(dir string) error {
	err := d.kernel.syncDir(dir)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

// notOurs says that a directory above can't be synced by us, and so can't be
// one whose entries we made: we may not read it, or nobody can sync it.
func notOurs(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EINVAL)
}
