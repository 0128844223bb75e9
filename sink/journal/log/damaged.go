package log

import (
	"errors"
	"fmt"
	"io/fs"
)

// DamagedDir receives copies of segments in which something can't be read.
const DamagedDir = Dir + "/damaged"

// SetAside keeps a copy of a damaged segment for whoever wants to look at it,
// unless there is one. The segment itself stays until nothing in it is live.
// What can't be read is zeros in the copy.
func (l *Log) SetAside(id uint64) error {
	name := fmt.Sprintf("%s/%016x", DamagedDir, id)
	if err := errors.Join(l.disk.Mkdir(DamagedDir), l.disk.SyncDir(Dir)); err != nil {
		return err
	}
	if done, err := l.disk.Open(name); err == nil {
		return done.Close()
	}
	partial := name + ".partial"
	if err := l.disk.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := l.copySegment(id, partial); err != nil {
		l.discard(partial)
		return fmt.Errorf("copy %s to %s: %w", SegmentName(id), DamagedDir, err)
	}
	return errors.Join(l.disk.Rename(partial, name), l.disk.SyncDir(DamagedDir))
}

func (l *Log) copySegment(id uint64, to string) (err error) {
	info := l.Info(id)
	in, err := l.disk.Open(SegmentName(id))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := l.disk.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Truncate(info.Size); err != nil {
		return err
	}
	s := &scanner{file: in, id: id, size: info.Size}
	for at := int64(0); at < info.Size; at += Sector {
		// By sectors: one that can't be read takes no other with it.
		if b := s.at(at, int(min(Sector, info.Size-at))); b != nil {
			if _, err := out.WriteAt(b, at); err != nil {
				return err
			}
		}
	}
	return out.Sync()
}
