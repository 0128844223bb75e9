package log

import (
	"errors"
	"fmt"
	"io/fs"
)

// DamagedDir receives the segments in which something can't be read, for whoever
// wants to look at them.
const DamagedDir = Dir + "/damaged"

// SetAside moves a segment in which nothing is live into DamagedDir, instead of
// retiring it. The segment is never copied, since the disk may be full.
func (l *Log) SetAside(id uint64) error {
	name := fmt.Sprintf("%s/%016x", DamagedDir, id)
	if err := errors.Join(l.disk.Mkdir(DamagedDir), l.disk.SyncDir(Dir)); err != nil {
		return fmt.Errorf("make %s: %w", DamagedDir, err)
	}
	if err := l.disk.Rename(SegmentName(id), name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("move %s to %s: %w", SegmentName(id), DamagedDir, err)
	}
	l.mu.Lock()
	delete(l.segments, id)
	l.mu.Unlock()
	if err := l.disk.SyncDir(DamagedDir); err != nil { // first: the old name must not be the one that goes
		return fmt.Errorf("sync %s: %w", DamagedDir, err)
	}
	return l.disk.SyncDir(Dir)
}
