package memfs

import (
	"context"
	"errors"
	"syscall"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
)

// Stat describes what is at p.
func (d *Driver) Stat(ctx context.Context, p string) (target.Info, error) {
	if err := d.call(ctx, "stat", p, false); err != nil {
		return target.Info{}, err
	}
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	return d.store.statLocked("stat", p)
}

func (s *Store) statLocked(op, p string) (target.Info, error) {
	n, err := s.walkLocked(p)
	if err != nil {
		return target.Info{}, failed(op, p, err)
	}
	return n.info(), nil
}

// Locate asks before and after the look whether changes in the directory are
// possible, as the marker that HDFS needs would.
func (d *Driver) Locate(ctx context.Context, id target.FileID, names ...string) (target.Place, error) {
	dir, err := target.CheckNames(names)
	if err != nil {
		return target.Place{}, err
	}
	if err := d.call(ctx, "locate", dir, true); err != nil {
		return target.Place{}, err
	}
	place, err := d.store.look(id, names)
	if err != nil {
		return target.Place{}, err
	}
	return place, d.call(ctx, "locate", dir, true)
}

func (s *Store) look(id target.FileID, names []string) (target.Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return target.LookUp(id, names,
		func(p string) (target.Info, error) { return s.statLocked("locate", p) }, s.searchLocked)
}

func (s *Store) searchLocked(id target.FileID) (target.Info, error) {
	if s.o.NoSearch {
		return target.Info{}, &target.Error{Op: "locate", Path: string(id), Class: target.Unsupported, Err: errors.ErrUnsupported}
	}
	n := s.byID[id]
	if n == nil || n.children != nil {
		return target.Info{}, failed("locate", string(id), syscall.ENOENT)
	}
	return n.info(), nil
}
