package localfs

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Stat describes what p leads to. A symbolic link that leads nowhere describes
// itself: there is something at p.
func (d *Driver) Stat(ctx context.Context, p string) (fs.Info, error) {
	if err := d.begin(ctx, "stat", p); err != nil {
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

// Locate needs no bracket on a local disk, which has one state only. A network
// file system is made to forget what it has cached of the directory by syncing
// it.
func (d *Driver) Locate(ctx context.Context, id fs.FileID, names ...string) (fs.Place, error) {
	dir, err := fs.CheckNames(names)
	if err != nil {
		return fs.Place{}, err
	}
	if err := d.begin(ctx, "locate", dir); err != nil {
		return fs.Place{}, err
	}
	// A directory that isn't there, or isn't ours to open, has no names that we
	// could have made and cached.
	err = d.syncDir(dir)
	if err != nil && !notOurs(err) && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
		return fs.Place{}, failed("locate", dir, err, false)
	}
	return fs.LookUp(id, names, func(name string) (fs.Info, error) {
		if ctx.Err() != nil {
			return fs.Info{}, ended(ctx, "locate", name)
		}
		return stat("locate", name)
	}, cannotSearch)
}

// cannotSearch says that no system call leads from an inode to its path.
func cannotSearch(id fs.FileID) (fs.Info, error) {
	return fs.Info{}, &fs.Error{Op: "locate", Path: string(id), Class: fs.Unsupported, Err: unix.ENOTSUP}
}
