package memfs

import (
	"fmt"
	"path"
	"slices"
	"syscall"
)

// Write makes a file with content at p, or rewrites the one that is there in
// place: same identity, new length and modification time.
func (s *Store) Write(p string, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, err := s.mkdirLocked(path.Dir(p), 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", p, err)
	}
	n := dir.children[path.Base(p)]
	if n == nil {
		n = s.newNode(dir, path.Base(p), false, 0o644)
	}
	if n.children != nil {
		return fmt.Errorf("write %s: %w", p, syscall.EISDIR)
	}
	n.content, n.mtime = slices.Clone(content), now()
	return nil
}

// Mkdir makes a directory and its missing parents.
func (s *Store) Mkdir(p string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.mkdirLocked(p, 0); err != nil {
		return fmt.Errorf("make directory %s: %w", p, err)
	}
	return nil
}

// Move moves the file or directory at from to to, replacing a file there.
func (s *Store) Move(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.walkLocked(from)
	if err != nil {
		return fmt.Errorf("move %s: %w", from, err)
	}
	if n.parent == nil {
		return fmt.Errorf("move %s: %w", from, syscall.EBUSY)
	}
	dir, err := s.mkdirLocked(path.Dir(to), 0)
	if err != nil {
		return fmt.Errorf("move %s to %s: %w", from, to, err)
	}
	for up := dir; up != nil; up = up.parent {
		if up == n {
			return fmt.Errorf("move %s to %s: %w", from, to, syscall.EINVAL)
		}
	}
	if there := dir.children[path.Base(to)]; there != nil && there != n {
		if there.children != nil {
			return fmt.Errorf("move %s to %s: %w", from, to, syscall.EISDIR)
		}
		s.dropLocked(there)
	}
	n.moveLocked(dir, path.Base(to))
	return nil
}

// Delete removes the file at p, or the directory with all that is in it.
func (s *Store) Delete(p string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.walkLocked(p)
	if err != nil {
		return fmt.Errorf("delete %s: %w", p, err)
	}
	if n.parent == nil {
		return fmt.Errorf("delete %s: %w", p, syscall.EBUSY)
	}
	s.dropLocked(n)
	return nil
}

// Read returns the content of the file at p.
func (s *Store) Read(p string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.walkLocked(p)
	if err == nil && n.children != nil {
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p, err)
	}
	return slices.Clone(n.content), nil
}

// Mode returns the permission bits of what is at p.
func (s *Store) Mode(p string) (uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.walkLocked(p)
	if err != nil {
		return 0, fmt.Errorf("mode of %s: %w", p, err)
	}
	return n.mode, nil
}

// dropLocked removes n and all below it.
func (s *Store) dropLocked(n *node) {
	n.visit(func(n *node) {
		n.removed = true
		delete(s.byID, n.id)
	})
	n.unlink()
}

// moveLocked gives n a new place, which is free or its own.
func (n *node) moveLocked(dir *node, name string) {
	n.unlink()
	n.parent, n.name = dir, name
	dir.children[name] = n
}
