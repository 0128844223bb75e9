package journal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// Dir is the journal's directory in the state directory.
const Dir = "journal"

// damagedDir receives segments in which something could not be read.
const damagedDir = Dir + "/damaged"

const sparePrefix = "spare-"

func segmentName(id uint64) string { return fmt.Sprintf("%s/%016x", Dir, id) }

// parseSegmentName is the inverse of segmentName's last element.
func parseSegmentName(name string) (uint64, bool) {
	if len(name) != 16 || strings.ToLower(name) != name {
		return 0, false
	}
	id, err := strconv.ParseUint(name, 16, 64)
	return id, err == nil
}

// segment is the segment that is being appended to. The writer goroutine owns
// it.
type segment struct {
	id     uint64
	file   disk.File
	size   int64 // allocated
	at     int64 // where the next frame goes
	synced int64 // everything below is durable
	// bad is the first error of a write or sync: nothing is appended after it.
	bad error
	// heads is reused for the headers of a batch.
	heads []byte
}

func (s *segment) room() int64 { return s.size - s.at }

// entry is a frame to be written: its payload is the concatenation of parts.
type entry struct {
	frame Frame
	kind  Kind
	parts [][]byte
	loc   location // set by write
}

func (e *entry) payloadLen() int {
	n := 0
	for _, p := range e.parts {
		n += len(p)
	}
	return n
}

func newEntry(f Frame) *entry {
	return &entry{frame: f, kind: f.kind(), parts: [][]byte{f.encode(nil)}}
}

var zeros [frameAlign]byte

// write writes the entries at the end and syncs them. After an error the
// segment is bad.
func (s *segment) write(entries []*entry) error {
	if s.bad != nil {
		return s.bad
	}
	if need := len(entries) * frameHeaderSize; cap(s.heads) < need {
		s.heads = make([]byte, need)
	}
	bufs := make([][]byte, 0, len(entries)*4)
	at := s.at
	for i, e := range entries {
		n := e.payloadLen()
		head := (*[frameHeaderSize]byte)(s.heads[i*frameHeaderSize : (i+1)*frameHeaderSize : cap(s.heads)])
		putFrameHeader(head, s.id, at, s.synced, e.kind, e.parts)
		bufs = append(append(bufs, head[:]), e.parts...)
		e.loc = location{segment: s.id, offset: at, length: uint32(n)}
		size := frameSize(n)
		if pad := size - int64(frameHeaderSize+n); pad > 0 {
			bufs = append(bufs, zeros[:pad])
		}
		at += size
	}
	if err := s.file.WriteVec(bufs, s.at); err != nil {
		s.bad = fmt.Errorf("write %s: %w", segmentName(s.id), err)
		return s.bad
	}
	if err := s.file.Sync(); err != nil {
		s.bad = fmt.Errorf("sync %s: %w", segmentName(s.id), err)
		return s.bad
	}
	s.at, s.synced = at, at
	return nil
}

// readFrame reads and checks the frame at loc into buf, growing it as needed,
// and returns the payload.
func readFrame(f disk.File, loc location, buf []byte) (Kind, []byte, error) {
	n := frameHeaderSize + int(loc.length)
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := f.ReadAt(buf, loc.offset); err != nil {
		return 0, nil, fmt.Errorf("read %s at %d: %w", segmentName(loc.segment), loc.offset, err)
	}
	kind, ok := checkFrame(buf, loc.segment, loc.offset)
	if !ok {
		return 0, nil, &DamageError{Segment: loc.segment, Offset: loc.offset, Err: errors.New("checksum differs")}
	}
	return kind, buf[frameHeaderSize:], nil
}

// checkFrame checks a whole frame against its checksum.
func checkFrame(b []byte, segment uint64, offset int64) (Kind, bool) {
	head := (*[frameHeaderSize]byte)(b)
	h, err := getFrameHeader(head, frameSize(len(b)-frameHeaderSize))
	if err != nil || int(h.length) != len(b)-frameHeaderSize {
		return 0, false
	}
	var again [frameHeaderSize]byte
	putFrameHeader(&again, segment, offset, int64(h.synced), h.kind, [][]byte{b[frameHeaderSize:]})
	return h.kind, again == *head
}

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
