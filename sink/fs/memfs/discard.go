package memfs

import "context"

// Discard deletes a file.
func (d *Driver) Discard(ctx context.Context, p string) error {
	if err := d.call(ctx, "discard", p, true); err != nil {
		return err
	}
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	n, err := d.store.fileLocked(p)
	if err != nil {
		return failed("discard", p, err)
	}
	d.store.dropLocked(n)
	return nil
}
