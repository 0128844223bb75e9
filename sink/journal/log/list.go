package log

import (
	"errors"
	"fmt"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// Found is a segment on the disk, as List found it.
type Found struct {
	ID    uint64
	State [16]byte // of its header
	// Previous is its header's: see Header.
	Previous uint32
	Bad      error // why the header can't be used
	Second   bool  // only the header's copy can
	Cut      bool  // the header can, but its copy isn't at the end
	start    [HeaderSize]byte
}

// Readable reports whether the segment's frames can be checked.
func (f Found) Readable() bool { return f.Bad == nil || f.Second }

// List finds the segments, by number, and the spares, which AdoptSpares takes.
func (l *Log) List() (segments []Found, spares []string, err error) {
	names, err := l.disk.List(Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list the journal: %w", err)
	}
	if err := l.countAside(); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if isSpare(name) {
			spares = append(spares, Dir+"/"+name)
			continue
		}
		id, ok := ParseSegmentName(name)
		if !ok {
			continue
		}
		f, err := l.find(id)
		if err != nil {
			return nil, nil, err
		}
		segments = append(segments, f)
		l.nextID = id + 1
	}
	return segments, spares, nil
}

// find reads a segment's header. It fails on what says nothing about the
// segment's content: a file that can't be opened, or that is a newer
// release's.
func (l *Log) find(id uint64) (Found, error) {
	f, err := l.disk.Open(SegmentName(id))
	if err != nil {
		return Found{}, fmt.Errorf("open %s: %w", SegmentName(id), err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return Found{}, fmt.Errorf("find the size of %s: %w", SegmentName(id), err)
	}
	out := Found{ID: id}
	readStart(f, out.start[:])
	header, bad := readHeader(f, 0, size, id)
	out.Bad = bad
	copied, err := readHeader(f, size-HeaderSize, size, id)
	switch {
	case out.Bad != nil && err == nil:
		header, out.Second = copied, true
	case out.Bad == nil && err != nil:
		out.Cut = true
	}
	out.State, out.Previous = header.State, header.Previous
	var v *VersionError
	if errors.As(out.Bad, &v) {
		return Found{}, fmt.Errorf("%s: %w", SegmentName(id), v)
	}
	info := Info{Size: size, Room: size, Salt: header.Salt}
	var h [FrameHeaderSize]byte
	if readFull(f.ReadAt, h[:], HeaderSize) == nil {
		if snapshot, ok := getFrameHeader(&h, Place{info.Salt, id, HeaderSize}, size); ok {
			info.Room = size - 2*HeaderSize - snapshot.size()
		}
	}
	l.mu.Lock()
	l.segments[id] = info
	l.mu.Unlock()
	return out, nil
}

// readStart fills b with a file's first bytes, and zeros if there are none.
func readStart(f disk.File, b []byte) {
	if readFull(f.ReadAt, b, 0) != nil {
		clear(b)
	}
}

// readHeader reads one copy of a header, once more from the disk itself if it isn't
// sound.
func readHeader(f disk.File, at, size int64, id uint64) (Header, error) {
	h, err := readHeaderBy(f.ReadAt, at, size, id)
	if errors.Is(err, errNoHeader) || errors.Is(err, errBadHeader) {
		return readHeaderBy(f.ReadDirect, at, size, id)
	}
	return h, err
}

func readHeaderBy(read readAt, at, size int64, id uint64) (Header, error) {
	if at < 0 || at >= size {
		return Header{}, errNoHeader
	}
	b := make([]byte, min(MaxHeader, size-at))
	if err := readFull(read, b, at); err != nil {
		return Header{}, fmt.Errorf("its header can't be read: %w", err)
	}
	h, err := DecodeHeader(b)
	if err == nil && h.Segment != id {
		return Header{}, fmt.Errorf("its header is that of segment %d", h.Segment)
	}
	return h, err
}

func (l *Log) scan(id uint64, with func(*scanner) error) error {
	f, err := l.disk.Open(SegmentName(id))
	if err != nil {
		return fmt.Errorf("open %s: %w", SegmentName(id), err)
	}
	defer f.Close()
	info := l.Info(id)
	return with(&scanner{file: f, id: id, salt: info.Salt, size: info.Size, kindName: l.kindName})
}

// First is a segment's first frame, and where it ends; ok is false if it can't
// be read.
func (l *Log) First(id uint64) (f Frame, end int64, ok bool, err error) {
	err = l.scan(id, func(s *scanner) error {
		first, err := s.frame(HeaderSize)
		ok = err == nil
		if !ok && s.durable() > HeaderSize {
			first, ok = s.repair(HeaderSize)
		}
		if ok {
			f, end = Frame{first.kind, first.location(id), first.payload}, first.end()
		}
		return nil
	})
	return f, end, ok, err
}

// Frame is a frame that was read.
type Frame struct {
	Kind    Kind
	At      Location
	Payload []byte // valid until the next frame is read
}

// Replayed is what a segment turned out to hold.
type Replayed struct {
	Durable int64 // everything below is known to be synced
	End     int64 // of the frames that count
	Bad     []BadFrame
	// Repaired are the offsets of frames whose damaged headers could be made out.
	Repaired []int64
	// Linked is true if the frames end where the next segment's snapshot begins.
	Linked bool
	// CutOff is true if the file ends where a frame may have been.
	CutOff bool
}

// BadFrame is where a segment is damaged, and how.
type BadFrame struct {
	Offset, End int64 // no sound frame lies between
	// Kind is what the frame's header says, 0 if that can't be read: then any
	// number of frames may have been there.
	Kind Kind
	Err  error
}

// Replay calls each for every frame of a segment that counts, in order. next is
// the Previous of the segment behind it: frames behind the place that it names
// don't count; 0 names none.
func (l *Log) Replay(id uint64, next uint32, each func(Frame)) (r Replayed, err error) {
	err = l.scan(id, func(s *scanner) error {
		r = s.replay(next, func(f scanned) { each(Frame{f.kind, f.location(id), f.payload}) })
		return nil
	})
	return r, err
}

// Tail is what a segment holds beyond what is known to be durable.
type Tail struct {
	Segment  uint64
	From, To int64
}

// MakeDurable writes a tail once more and syncs it. A killed process leaves
// frames that can be read and aren't durable. After a failed sync the kernel
// takes their pages for clean, so that a sync alone wouldn't do.
func (l *Log) MakeDurable(t Tail) error {
	if t.From >= t.To {
		return nil
	}
	err := l.scan(t.Segment, func(s *scanner) error {
		for at := t.From; at < t.To; {
			n := int(min(scanWindow, t.To-at))
			b := s.at(at, n)
			if b == nil {
				return s.why(errNoFrame)
			}
			if _, err := s.file.WriteAt(b, at); err != nil {
				return err
			}
			at += int64(n)
		}
		return s.file.Sync()
	})
	if err != nil {
		return fmt.Errorf("make what the last process wrote durable in %s: %w", SegmentName(t.Segment), err)
	}
	return nil
}
