package log

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// SegmentName is the name of a segment on the disk.
func SegmentName(id uint64) string { return fmt.Sprintf("%s/%016x", Dir, id) }

// maxSegment bounds the segments' numbers: one a microsecond lasts for years. A
// file with a higher one is nobody's, and must not use the numbers up.
const maxSegment = 1 << 48

// ParseSegmentName is the inverse of SegmentName's last element.
func ParseSegmentName(name string) (uint64, bool) {
	if len(name) != 16 || strings.ToLower(name) != name {
		return 0, false
	}
	id, err := strconv.ParseUint(name, 16, 64)
	return id, err == nil && id < maxSegment
}

// segment is the segment that is being appended to. The writer goroutine owns
// it.
type segment struct {
	id     uint64
	salt   uint64
	file   disk.File
	size   int64 // allocated
	at     int64 // where the next frame goes
	synced int64 // everything below is durable
	// bad is why nothing may be appended any more: a write or sync failed, or
	// the successor's name was tried.
	bad error
	// heads is reused for the headers of a batch.
	heads []byte
}

// room is what is left for frames: the end is the header's copy.
func (s *segment) room() int64 { return s.size - HeaderSize - s.at }

// Entry is a frame to be written: its payload is the concatenation of Parts.
type Entry struct {
	Kind  Kind
	Parts [][]byte
	At    Location // set by Append
}

// Len is the payload's length.
func (e *Entry) Len() int {
	n := 0
	for _, p := range e.Parts {
		n += len(p)
	}
	return n
}

// Location is where a frame lies.
type Location struct {
	Segment uint64
	Offset  int64
	Length  uint32 // of the payload
}

// Size is the room that the frame takes.
func (l Location) Size() int64 { return FrameSize(int(l.Length)) }

var zeros [frameAlign]byte

// write writes the entries at the end and syncs them. After an error the
// segment is bad.
func (s *segment) write(entries []*Entry) error {
	if s.bad != nil {
		return s.bad
	}
	bufs, end := s.layOut(entries)
	if err := s.file.WriteVec(bufs, s.at); err != nil {
		s.bad = fmt.Errorf("write %s: %w", SegmentName(s.id), err)
		return s.bad
	}
	if err := s.file.Sync(); err != nil {
		s.bad = fmt.Errorf("sync %s: %w", SegmentName(s.id), err)
		return s.bad
	}
	s.at, s.synced = end, end
	return nil
}

// layOut gives each entry its Place, and returns what is to be written and
// where it ends.
func (s *segment) layOut(entries []*Entry) (bufs [][]byte, end int64) {
	if need := len(entries) * FrameHeaderSize; cap(s.heads) < need {
		s.heads = make([]byte, need)
	}
	bufs = make([][]byte, 0, len(entries)*4)
	at := s.at
	for i, e := range entries {
		n := e.Len()
		head := s.heads[:cap(s.heads)][i*FrameHeaderSize:][:FrameHeaderSize]
		PutFrameHeader((*[FrameHeaderSize]byte)(head), Place{s.salt, s.id, at}, s.synced, e.Kind, e.Parts)
		bufs = append(append(bufs, head), e.Parts...)
		e.At = Location{Segment: s.id, Offset: at, Length: uint32(n)}
		size := FrameSize(n)
		if pad := size - int64(FrameHeaderSize+n); pad > 0 {
			bufs = append(bufs, zeros[:pad])
		}
		at += size
	}
	return bufs, at
}

// start writes both copies of the header and the snapshot, and syncs them.
func (s *segment) start(h Header, snapshot *Entry) error {
	b := h.Encode()
	for _, at := range []int64{0, s.size - HeaderSize} {
		if _, err := s.file.WriteAt(b, at); err != nil {
			return fmt.Errorf("write the header of %s: %w", SegmentName(s.id), err)
		}
	}
	s.salt, s.at, s.synced = h.Salt, HeaderSize, HeaderSize
	return s.write([]*Entry{snapshot})
}
