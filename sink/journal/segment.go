package journal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// Dir is the journal's directory in the state directory.
const Dir = "journal"

func segmentName(id uint64) string { return fmt.Sprintf("%s/%016x", Dir, id) }

// maxSegment bounds the segments' numbers: one a microsecond lasts for years. A
// file with a higher one is nobody's, and must not use the numbers up.
const maxSegment = 1 << 48

// parseSegmentName is the inverse of segmentName's last element.
func parseSegmentName(name string) (uint64, bool) {
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
func (s *segment) room() int64 { return s.size - headerSize - s.at }

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
	bufs, end := s.layOut(entries)
	if err := s.file.WriteVec(bufs, s.at); err != nil {
		s.bad = fmt.Errorf("write %s: %w", segmentName(s.id), err)
		return s.bad
	}
	if err := s.file.Sync(); err != nil {
		s.bad = fmt.Errorf("sync %s: %w", segmentName(s.id), err)
		return s.bad
	}
	s.at, s.synced = end, end
	return nil
}

// layOut gives each entry its place, and returns what is to be written and
// where it ends.
func (s *segment) layOut(entries []*entry) (bufs [][]byte, end int64) {
	if need := len(entries) * frameHeaderSize; cap(s.heads) < need {
		s.heads = make([]byte, need)
	}
	bufs = make([][]byte, 0, len(entries)*4)
	at := s.at
	for i, e := range entries {
		n := e.payloadLen()
		head := s.heads[:cap(s.heads)][i*frameHeaderSize:][:frameHeaderSize]
		putFrameHeader((*[frameHeaderSize]byte)(head), place{s.salt, s.id, at}, s.synced, e.kind, e.parts)
		bufs = append(append(bufs, head), e.parts...)
		e.loc = location{segment: s.id, offset: at, length: uint32(n)}
		size := frameSize(n)
		if pad := size - int64(frameHeaderSize+n); pad > 0 {
			bufs = append(bufs, zeros[:pad])
		}
		at += size
	}
	return bufs, at
}

// start writes both copies of the header and the snapshot, and syncs them.
func (s *segment) start(h segmentHeader, snapshot []byte) error {
	b := h.encode()
	for _, at := range []int64{0, s.size - headerSize} {
		if _, err := s.file.WriteAt(b, at); err != nil {
			return fmt.Errorf("write the header of %s: %w", segmentName(s.id), err)
		}
	}
	s.salt, s.at, s.synced = h.salt, headerSize, headerSize
	return s.write([]*entry{{kind: KindSnapshot, parts: [][]byte{snapshot}}})
}
