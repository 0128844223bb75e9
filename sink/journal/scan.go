package journal

import (
	"errors"
	"io"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// scanner reads a segment's frames in order.
type scanner struct {
	file   disk.File
	id     uint64
	size   int64
	window []byte // the bytes from start on
	start  int64
	// unreadable is the last read error; what it hit counts as damaged.
	unreadable error
}

const scanWindow = 1 << 20

// at returns the n bytes at offset, or nil if the segment ends before or they
// can't be read. They are valid until the next call.
func (s *scanner) at(offset int64, n int) []byte {
	if offset+int64(n) > s.size {
		return nil
	}
	if offset < s.start || offset+int64(n) > s.start+int64(len(s.window)) {
		want := int(min(int64(max(n, scanWindow)), s.size-offset))
		if !s.fill(offset, want) && !s.fill(offset, n) {
			s.window = s.window[:0]
			return nil
		}
	}
	from := offset - s.start
	return s.window[from : from+int64(n)]
}

// readTries is how often a read is tried before its range counts as damaged:
// some errors of disks and of their paths pass.
const readTries = 3

func (s *scanner) fill(offset int64, n int) bool {
	if cap(s.window) < n {
		s.window = make([]byte, n)
	}
	s.window, s.start = s.window[:n], offset
	for range readTries {
		_, err := s.file.ReadAt(s.window, offset)
		if err == nil {
			return true
		}
		s.unreadable = err
		if errors.Is(err, io.EOF) {
			return false
		}
	}
	return false
}

// scanned is one sound frame.
type scanned struct {
	frameHeader
	offset  int64
	payload []byte // valid until the next call of the scanner
}

func (f scanned) end() int64 { return f.offset + frameSize(int(f.length)) }

func (f scanned) location(segment uint64) location {
	return location{segment: segment, offset: f.offset, length: f.length}
}

// frame reads the frame at offset. ok is false if there is no sound frame.
func (s *scanner) frame(offset int64) (f scanned, ok bool) {
	b := s.at(offset, frameHeaderSize)
	if b == nil {
		return scanned{}, false
	}
	h, bad := getFrameHeader((*[frameHeaderSize]byte)(b), s.size-offset)
	if bad != nil || int64(h.synced) > offset || [7]byte(b[17:24]) != [7]byte{} {
		return scanned{}, false
	}
	b = s.at(offset, frameHeaderSize+int(h.length))
	if b == nil {
		return scanned{}, false
	}
	if _, ok := checkFrame(b, s.id, offset); !ok {
		return scanned{}, false
	}
	return scanned{h, offset, b[frameHeaderSize:]}, true
}

// next finds the first sound frame at or behind offset.
func (s *scanner) next(offset int64) (scanned, bool) {
	for offset+frameHeaderSize <= s.size {
		f, ok := s.frame(offset)
		if ok {
			return f, true
		}
		offset += frameAlign
		if len(s.window) == 0 { // unreadable: a disk fails by sectors
			offset = (offset + sector - 1) &^ (sector - 1)
		}
	}
	return scanned{}, false
}

const sector = 4096

// damaged reports whether the bad frame at offset was once durable: a sound
// frame behind it knows so.
func (s *scanner) damaged(offset int64) bool {
	for at := offset + frameAlign; ; {
		f, ok := s.next(at)
		if !ok {
			return false
		}
		if int64(f.synced) > offset {
			return true
		}
		at = f.end()
	}
}

// replay calls each for every frame from offset on that counts: up to the
// tail's first bad frame, and around what is damaged. It returns the offsets
// of the damage.
func (s *scanner) replay(offset int64, each func(scanned)) (damage []int64) {
	for {
		f, ok := s.frame(offset)
		if !ok {
			if !s.damaged(offset) {
				return damage
			}
			damage = append(damage, offset)
			f, _ = s.next(offset + frameAlign)
		}
		offset = f.end()
		each(f)
	}
}
