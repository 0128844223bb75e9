package crashdisk

import (
	"io/fs"
	"path"
	"slices"
)

// Damage changes a file's content in place, durably, as a failing disk would.
func (d *Disk) Damage(name string, change func(content []byte) []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.entries[path.Clean(name)]
	if n == nil {
		return fs.ErrNotExist
	}
	before := len(n.data)
	n.data = change(n.data)
	d.used += int64(len(n.data) - before)
	n.durable = slices.Clone(n.data)
	clear(n.dirty)
	return nil
}

// Misread has reads answer a changed content, as memory that lies does, until a
// direct read of the file. The disk's own content stays.
func (d *Disk) Misread(name string, change func(content []byte) []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.entries[path.Clean(name)]
	if n == nil {
		return fs.ErrNotExist
	}
	n.misread = change(slices.Clone(n.data))
	return nil
}

// Names are the files that exist now, sorted.
func (d *Disk) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return sortedKeys(d.entries)
}

// Content is a copy of a file's content, nil if there is no such file.
func (d *Disk) Content(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.entries[path.Clean(name)]; n != nil {
		return slices.Clone(n.data)
	}
	return nil
}
