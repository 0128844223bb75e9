package localfs

import (
	"context"
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Publish moves the file with renameat2 and RENAME_NOREPLACE, or, where the file
// system has no such thing (NFS, some of FUSE), with link and unlink, of which
// link never replaces either. Between these two the file has both names; so it
// does after a crash there, and a Publish from the old to the new name then
// finishes the move.
func (d *Driver) Publish(ctx context.Context, file fs.Info, final string, o fs.PublishOptions) error {
	from, to := file.Path, final
	if err := errors.Join(d.begin(ctx, "publish", from), fs.CheckPath("publish", to)); err != nil {
		return err
	}
	st, err := statx(from, false)
	switch {
	case err != nil:
		return publishFailed(from, to, err)
	case isDir(st):
		return publishFailed(from, to, unix.EISDIR)
	case file.ID != "" && identity(st) != file.ID:
		return publishFailed(from, to, fmt.Errorf("another file is there: %w", unix.ENOENT))
	case to == "/":
		return publishFailed(from, to, unix.EEXIST)
	case len(path.Base(to)) > unix.NAME_MAX:
		return publishFailed(from, to, unix.ENAMETOOLONG) // before any parent is made for it
	}
	if err := d.ensureDir("publish", path.Dir(to), o.DirMode); err != nil {
		return err
	}
	err = d.kernel.renameNoReplace(from, to)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return d.linkThenUnlink(from, to)
	}
	if errors.Is(err, unix.EEXIST) {
		return d.finishLink(from, to)
	}
	if err != nil {
		return moveFailed(from, to, err)
	}
	return d.syncMove(from, to)
}

// moveFailed is what a move that didn't happen means. ENOENT is about either
// name: if there still is something at from, to's directory is gone.
func moveFailed(from, to string, err error) error {
	if _, statErr := statx(from, false); statErr == nil && errors.Is(err, unix.ENOENT) {
		return dirFailed("publish", to, err)
	}
	return publishFailed(from, to, err)
}

func (d *Driver) linkThenUnlink(from, to string) error {
	err := d.kernel.link(from, to)
	switch {
	case errors.Is(err, unix.EEXIST):
		return d.finishLink(from, to)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
		return noLinks(from, to, fs.Unsupported, err)
	case errors.Is(err, unix.EPERM):
		// Also what fs.protected_hardlinks answers for somebody else's file.
		return noLinks(from, to, fs.Path, err)
	case err != nil:
		return moveFailed(from, to, err)
	}
	return d.dropOldName(from, to)
}

// noLinks is what a file system means for us on which nothing can be published
// safely.
func noLinks(from, to string, class fs.Class, err error) error {
	return &fs.Error{Op: "publish", Path: from, Class: class,
		Err: fmt.Errorf("as %s: this file system can't rename without replacing, and a hard link instead was refused: use another file system, unless the file belongs to another user: %w", to, err)}
}

// finishLink decides what a name that is taken means. It is taken by another
// file, unless it is the second name of this one.
func (d *Driver) finishLink(from, to string) error {
	a, err := statx(from, false)
	if err != nil {
		return publishFailed(from, to, err)
	}
	b, err := statx(to, false)
	if err != nil {
		return publishFailed(from, to, unix.EEXIST) // it was taken a moment ago
	}
	if !sameInode(a, b) || a.Nlink < 2 || sameEntry(from, to) {
		return publishFailed(from, to, unix.EEXIST)
	}
	return d.dropOldName(from, to)
}

// dropOldName ends a move whose new name exists, once that name is durable.
func (d *Driver) dropOldName(from, to string) error {
	if err := d.syncDir(path.Dir(to)); err != nil {
		return unclear("publish", from, fmt.Errorf("as %s: it has both names: sync the new one: %w", to, err))
	}
	err := d.kernel.unlink(from)
	if errors.Is(err, unix.ENOENT) {
		// Either the answer to our own unlink was lost and it was asked again,
		// or somebody else has moved the file too.
		if st, statErr := statx(to, false); statErr == nil && st.Nlink == 1 {
			err = nil
		}
	}
	if err != nil {
		return unclear("publish", from, fmt.Errorf("as %s: it has the new name; remove the old one: %w", to, err))
	}
	return d.syncMove(from, to)
}

// sameEntry says whether from and to may be one directory entry, reached on two
// ways as through a linked directory. Removing one would remove the other.
func sameEntry(from, to string) bool {
	if path.Base(from) != path.Base(to) {
		return false
	}
	a, aErr := statx(path.Dir(from), true)
	b, bErr := statx(path.Dir(to), true)
	return aErr != nil || bErr != nil || sameInode(a, b)
}

func sameInode(a, b unix.Statx_t) bool {
	return a.Ino == b.Ino && a.Dev_major == b.Dev_major && a.Dev_minor == b.Dev_minor
}

// syncMove makes a move durable that has happened.
func (d *Driver) syncMove(from, to string) error {
	dirs := []string{path.Dir(to)}
	if path.Dir(from) != path.Dir(to) {
		dirs = append(dirs, path.Dir(from))
	}
	for _, dir := range dirs {
		if err := d.syncDir(dir); err != nil {
			return unclear("publish", from, fmt.Errorf("as %s: it was moved; sync %s: %w", to, dir, err))
		}
	}
	return nil
}

func publishFailed(from, to string, err error) error {
	return failed("publish", from, fmt.Errorf("as %s: %w", to, err), true)
}
