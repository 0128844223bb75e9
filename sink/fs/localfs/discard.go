package localfs

import (
	"context"
	"path"

	"golang.org/x/sys/unix"
)

// Discard unlinks p and syncs its directory, so that it doesn't come back after
// a loss of power.
func (d *Driver) Discard(ctx context.Context, p string) error {
	if err := d.begin(ctx, "discard", p); err != nil {
		return err
	}
	st, err := statx(p, false)
	if err == nil && isDir(st) {
		err = unix.EISDIR // unlink may answer EPERM, depending on the file system
	}
	if err == nil {
		err = d.kernel.unlink(p)
	}
	if err != nil {
		return failed("discard", p, err, true)
	}
	if err := d.syncDir(path.Dir(p)); err != nil {
		return unclear("discard", p, err)
	}
	return nil
}
