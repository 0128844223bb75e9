package log

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// DamageError says that a frame that was durable can't be read back.
type DamageError struct {
	Segment uint64
	Offset  int64
	Err     error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal damaged in %s at offset %d: %v", SegmentName(e.Segment), e.Offset, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Read reads and checks the frame at loc into buf, growing it as needed, and
// returns the payload, which aliases it. The error is a *DamageError if it can't
// be had any more; any other may pass.
//
// A frame whose checksum differs is read once more from the disk itself before
// that is believed: what the kernel remembers of it may be wrong.
func (l *Log) Read(loc Location, buf []byte) ([]byte, error) {
	f, err := l.openSegment(loc)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	salt := l.Info(loc.Segment).Salt
	payload, err := readFrame(f.ReadAt, loc, salt, buf)
	if damage := new(DamageError); errors.As(err, &damage) {
		if payload, again := readFrame(f.ReadDirect, loc, salt, buf); again == nil {
			l.misread(loc.Segment, damage)
			return payload, nil
		}
	}
	return payload, err
}

// misread tells of bytes that the disk has right.
func (l *Log) misread(segment uint64, err error) {
	l.log.Warn("a file of the journal was read wrong, and right once more from the disk", "file", SegmentName(segment),
		"error", err, "do", "check the machine's memory")
}

// openSegment opens the segment of a frame that must be there.
func (l *Log) openSegment(loc Location) (disk.File, error) {
	f, err := l.disk.Open(SegmentName(loc.Segment))
	if errors.Is(err, fs.ErrNotExist) {
		// Not to be taken for a chunk that isn't live: the cause isn't wrapped.
		return nil, &DamageError{loc.Segment, loc.Offset, errors.New("the file is missing")}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", SegmentName(loc.Segment), err)
	}
	return f, nil
}

func readFrame(read readAt, loc Location, salt uint64, buf []byte) ([]byte, error) {
	n := FrameHeaderSize + int(loc.Length)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	err := readFull(read, buf, loc.Offset)
	if errors.Is(err, io.EOF) {
		return nil, &DamageError{loc.Segment, loc.Offset, errors.New("the file ends before the frame does")}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s at %d: %w", SegmentName(loc.Segment), loc.Offset, err)
	}
	at, payload := Place{salt, loc.Segment, loc.Offset}, buf[FrameHeaderSize:]
	h, ok := getFrameHeader((*[FrameHeaderSize]byte)(buf), at, loc.Size())
	if !ok {
		h, ok = repairHeader([FrameHeaderSize]byte(buf), at, payload)
	}
	if !ok || h.length != loc.Length || !h.holds(at, payload) {
		return nil, &DamageError{loc.Segment, loc.Offset, errors.New("its checksum differs")}
	}
	return payload, nil
}

// readTries is how often a read is tried: some errors of disks and of their
// paths pass.
const readTries = 3

// readAt is a File's ReadAt or ReadDirect.
type readAt func(b []byte, offset int64) (int, error)

// readFull fills b. The error is io.EOF if the file ends before.
func readFull(read readAt, b []byte, offset int64) error {
	for try := 1; ; try++ {
		n, err := read(b, offset)
		switch {
		case n == len(b):
			return nil
		case try == readTries || errors.Is(err, io.EOF):
			return err
		}
	}
}
