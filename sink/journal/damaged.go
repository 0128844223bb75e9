package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// damagedDir receives copies of segments in which something can't be read.
const damagedDir = Dir + "/damaged"

// GiveUp ends a chunk that Read found damaged, after a copy of its segment was
// set aside. Should Fluent Bit deliver it again, it is new.
func (j *Journal) GiveUp(seq uint64) error {
	loc, _, err := j.locate(seq)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := j.setAside(loc.segment); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set a damaged segment aside: %w", err)
	}
	return j.Append(Lost{seq})
}

// setAside keeps a copy of a damaged segment for whoever wants to look at it,
// unless there is one. The segment itself stays until nothing in it is live.
// What can't be read is zeros in the copy.
func (j *Journal) setAside(id uint64) error {
	name := fmt.Sprintf("%s/%016x", damagedDir, id)
	if err := errors.Join(j.disk.Mkdir(damagedDir), j.disk.SyncDir(Dir)); err != nil {
		return err
	}
	if done, err := j.disk.Open(name); err == nil {
		return done.Close()
	}
	partial := name + ".partial"
	if err := j.disk.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := j.copySegment(id, partial); err != nil {
		j.discard(partial)
		return fmt.Errorf("copy %s to %s: %w", segmentName(id), damagedDir, err)
	}
	return errors.Join(j.disk.Rename(partial, name), j.disk.SyncDir(damagedDir))
}

func (j *Journal) copySegment(id uint64, to string) (err error) {
	j.mu.Lock()
	info := j.segments[id]
	j.mu.Unlock()
	in, err := j.disk.Open(segmentName(id))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := j.disk.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Truncate(info.size); err != nil {
		return err
	}
	s := &scanner{file: in, id: id, size: info.size}
	for at := int64(0); at < info.size; at += sector {
		// By sectors: one that can't be read takes no other with it.
		if b := s.at(at, int(min(sector, info.size-at))); b != nil {
			if _, err := out.WriteAt(b, at); err != nil {
				return err
			}
		}
	}
	return out.Sync()
}
