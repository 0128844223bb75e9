package log

import (
	"errors"
	"fmt"
	"io/fs"
)

// DamagedDir receives the segments in which something can't be read, for whoever
// wants to look at them.
const DamagedDir = Dir + "/damaged"

// Aside is the bytes of what lies in DamagedDir.
func (l *Log) Aside() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.aside
}

// countAside counts what lies in DamagedDir, which may be nothing.
func (l *Log) countAside() error {
	names, err := l.disk.List(DamagedDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list %s: %w", DamagedDir, err)
	}
	total := int64(0)
	for _, n := range names {
		f, err := l.disk.Open(DamagedDir + "/" + n)
		if err != nil {
			continue
		}
		if size, err := f.Size(); err == nil {
			total += size
		}
		_ = f.Close()
	}
	l.mu.Lock()
	l.aside = total
	l.mu.Unlock()
	return nil
}

// PurgeAside removes what lies in DamagedDir.
func (l *Log) PurgeAside() error {
	names, err := l.disk.List(DamagedDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list %s: %w", DamagedDir, err)
	}
	var errs []error
	for _, n := range names {
		if err := l.disk.Remove(DamagedDir + "/" + n); err != nil {
			errs = append(errs, fmt.Errorf("remove %s/%s: %w", DamagedDir, n, err))
		}
	}
	return errors.Join(append(errs, l.countAside())...)
}

// SetAside moves a segment in which nothing is live into DamagedDir, instead of
// retiring it. The segment is never copied, since the disk may be full.
func (l *Log) SetAside(id uint64) error {
	name := fmt.Sprintf("%s/%016x", DamagedDir, id)
	if err := errors.Join(l.disk.Mkdir(DamagedDir), l.disk.SyncDir(Dir)); err != nil {
		return fmt.Errorf("make %s: %w", DamagedDir, err)
	}
	err := l.disk.Rename(SegmentName(id), name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("move %s to %s: %w", SegmentName(id), DamagedDir, err)
	}
	l.mu.Lock()
	if err == nil {
		l.aside += l.segments[id].Size
	}
	delete(l.segments, id)
	l.mu.Unlock()
	if err := l.disk.SyncDir(DamagedDir); err != nil { // first: the old name must not be the one that goes
		return fmt.Errorf("sync %s: %w", DamagedDir, err)
	}
	return l.disk.SyncDir(Dir)
}
