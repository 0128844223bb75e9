package memfs

import (
	"cmp"
	"context"
	"errors"
	"path"
	"syscall"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
)

// slice is how much an Upload writes at a time, and between two looks at ctx.
const slice = 1 << 20

// maxReserve bounds what is allocated on a source's word.
const maxReserve = 64 << 20

// Upload makes the file hidden. The store is locked for one slice at a time, so that others
// see the file grow.
func (d *Driver) Upload(ctx context.Context, src target.Source, hidden string, o target.UploadOptions) (target.Info, error) {
	if err := d.call(ctx, "upload", hidden, true); err != nil {
		return target.Info{}, err
	}
	n, err := d.store.create(hidden, src.Size(), o)
	if err != nil {
		return target.Info{}, failed("upload", hidden, err)
	}
	buf := make([]byte, min(slice, src.Size()))
	for off := int64(0); off < src.Size(); {
		read, readErr := target.ReadSlice(src, buf, off)
		if err := d.store.append(ctx, n, hidden, buf[:read]); err != nil {
			return target.Info{}, err
		}
		off += int64(read)
		if readErr != nil {
			return target.Info{}, &target.Error{Op: "upload", Path: hidden, Class: target.Unclear, Err: readErr}
		}
	}
	return d.store.finish(ctx, n, hidden)
}

func (s *Store) create(hidden string, size int64, o target.UploadOptions) (*node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if hidden == "/" {
		return nil, syscall.EEXIST
	}
	name := path.Base(hidden)
	if len(name) > maxName {
		return nil, syscall.ENAMETOOLONG
	}
	dir, err := s.mkdirLocked(path.Dir(hidden), o.DirMode)
	if err != nil {
		return nil, err
	}
	if dir.children[name] != nil {
		return nil, syscall.EEXIST
	}
	n := s.newNode(dir, name, false, cmp.Or(o.FileMode, 0o644))
	n.closed, n.options = false, o
	n.content = make([]byte, 0, min(size, maxReserve))
	return n, nil
}

// append adds one slice, as much of it as quotas allow. A file that was removed
// meanwhile has no writer any more.
func (s *Store) append(ctx context.Context, n *node, hidden string, p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writableLocked(ctx, n, hidden); err != nil {
		return err
	}
	room := s.roomLocked(n.path())
	n.content, n.mtime = append(n.content, p[:min(int64(len(p)), room)]...), now()
	if room < int64(len(p)) {
		return &target.Error{Op: "upload", Path: hidden, Class: target.Path, Err: syscall.EDQUOT}
	}
	return nil
}

func (s *Store) writableLocked(ctx context.Context, n *node, hidden string) error {
	if ctx.Err() != nil {
		return &target.Error{Op: "upload", Path: hidden, Class: target.Unclear, Err: context.Cause(ctx)}
	}
	if n.removed {
		return &target.Error{Op: "upload", Path: hidden, Class: target.Unclear, Err: errors.New("file was removed while it was written")}
	}
	return s.admitLocked("upload", hidden, true)
}

// roomLocked is how many bytes the quotas above p still allow.
func (s *Store) roomLocked(p string) int64 {
	room := int64(1) << 62
	for prefix, quota := range s.quotas {
		if !below(p, prefix) {
			continue
		}
		used := int64(0)
		if n, err := s.walkLocked(prefix); err == nil {
			n.visit(func(n *node) { used += int64(len(n.content)) })
		}
		room = min(room, max(quota-used, 0))
	}
	return room
}

func (s *Store) finish(ctx context.Context, n *node, hidden string) (target.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writableLocked(ctx, n, hidden); err != nil {
		return target.Info{}, err
	}
	n.closed, n.mtime = true, now()
	return n.info(), nil
}
