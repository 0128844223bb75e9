package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// DamageError says that a frame that was durable can't be read back.
type DamageError struct {
	Segment uint64
	Offset  int64
	Err     error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal damaged in %s at offset %d: %v", segmentName(e.Segment), e.Offset, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Payload is a chunk read back. Data aliases the buffer that Read was given,
// or a larger one that took its place.
type Payload struct {
	Tag     string
	Arrival time.Time
	Data    []byte
}

// Read reads a live chunk back. The error is a *DamageError if it can't be
// had any more, and wraps fs.ErrNotExist if it isn't live. Any other error may
// pass.
func (j *Journal) Read(seq uint64, buf []byte) (Payload, error) {
	payload, loc, err := j.readLive(seq, buf)
	if err != nil {
		return Payload{}, fmt.Errorf("chunk %d: %w", seq, err)
	}
	f, data, err := decodeChunk(payload)
	if err == nil && f.seq != seq {
		err = fmt.Errorf("it is chunk %d", f.seq)
	}
	if err != nil {
		return Payload{}, fmt.Errorf("chunk %d: %w", seq, &DamageError{loc.segment, loc.offset, err})
	}
	return Payload{Tag: f.tag, Arrival: f.arrival, Data: data}, nil
}

// readLive reads a live chunk's frame. It may be copied forward and its
// segment used again meanwhile: it is bad only if it still is where it was
// read.
func (j *Journal) readLive(seq uint64, buf []byte) ([]byte, location, error) {
	loc, salt, err := j.locate(seq)
	for err == nil {
		payload, bad := j.readAt(loc, salt, buf)
		if bad == nil {
			return payload, loc, nil
		}
		was := loc
		if loc, salt, err = j.locate(seq); err == nil && loc == was {
			return nil, loc, bad
		}
	}
	return nil, location{}, err
}

// locate is where a live chunk lies.
func (j *Journal) locate(seq uint64) (location, uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.released {
		return location{}, 0, ErrClosed
	}
	c := j.st.chunks[seq]
	if c == nil {
		return location{}, 0, fmt.Errorf("not live: %w", fs.ErrNotExist)
	}
	return c.loc, j.segments[c.loc.segment].salt, nil
}

// readAt reads and checks the frame at loc into buf, growing it as needed, and
// returns the payload.
func (j *Journal) readAt(loc location, salt uint64, buf []byte) ([]byte, error) {
	f, err := j.openSegment(loc)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFrame(f, loc, salt, buf)
}

// openSegment opens the segment of a frame that must be there.
func (j *Journal) openSegment(loc location) (disk.File, error) {
	f, err := j.disk.Open(segmentName(loc.segment))
	if errors.Is(err, fs.ErrNotExist) {
		// Not to be taken for a chunk that isn't live: the cause isn't wrapped.
		return nil, &DamageError{loc.segment, loc.offset, errors.New("the file is missing")}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", segmentName(loc.segment), err)
	}
	return f, nil
}

func readFrame(f disk.File, loc location, salt uint64, buf []byte) ([]byte, error) {
	n := frameHeaderSize + int(loc.length)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	err := readFull(f, buf, loc.offset)
	if errors.Is(err, io.EOF) {
		return nil, &DamageError{loc.segment, loc.offset, errors.New("the file ends before the frame does")}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s at %d: %w", segmentName(loc.segment), loc.offset, err)
	}
	at, payload := place{salt, loc.segment, loc.offset}, buf[frameHeaderSize:]
	h, ok := getFrameHeader((*[frameHeaderSize]byte)(buf), at, loc.size())
	if !ok || h.length != loc.length || !h.holds(at, payload) {
		return nil, &DamageError{loc.segment, loc.offset, errors.New("its checksum differs")}
	}
	return payload, nil
}

// readTries is how often a read is tried: some errors of disks and of their
// paths pass.
const readTries = 3

// readFull fills b. The error is io.EOF if the file ends before.
func readFull(f disk.File, b []byte, offset int64) error {
	for try := 1; ; try++ {
		n, err := f.ReadAt(b, offset)
		switch {
		case n == len(b):
			return nil
		case try == readTries || errors.Is(err, io.EOF):
			return err
		}
	}
}
