package memfs

import (
	"context"
	"path"
	"syscall"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
)

// Publish renames the file without replacing.
func (d *Driver) Publish(ctx context.Context, from target.Info, final string, o target.PublishOptions) error {
	if err := d.call(ctx, "publish", from.Path, true); err != nil {
		return err
	}
	if err := d.call(ctx, "publish", final, true); err != nil {
		return err
	}
	if err := d.store.rename(from, final, o.DirMode); err != nil {
		return failed("publish", from.Path+" as "+final, err)
	}
	return nil
}

func (s *Store) rename(from target.Info, to string, dirMode uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.walkLocked(from.Path)
	switch {
	case err != nil:
		return err
	case n.children != nil:
		return syscall.EISDIR
	case from.ID != "" && n.id != from.ID:
		return syscall.ENOENT // another file
	case len(path.Base(to)) > maxName:
		return syscall.ENAMETOOLONG
	case to == "/":
		return syscall.EEXIST
	}
	dir, err := s.mkdirLocked(path.Dir(to), dirMode)
	if err != nil {
		return err
	}
	if dir.children[path.Base(to)] != nil {
		return syscall.EEXIST
	}
	n.moveLocked(dir, path.Base(to))
	return nil
}
