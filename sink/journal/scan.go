package journal

import (
	"errors"
	"fmt"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// scanner reads a segment's frames in order.
type scanner struct {
	file   disk.File
	id     uint64
	salt   uint64
	size   int64
	window []byte // the bytes from start on
	start  int64
	rough  int64 // below this offset something can't be read
	// failed is the error of the last read; what it hit counts as damaged.
	failed error
}

const (
	scanWindow = 1 << 20
	// sector is in what units a disk fails to read.
	sector = 512
)

// at returns the n bytes at offset, or nil if the segment ends before or they
// can't be read. They are valid until the next call.
func (s *scanner) at(offset int64, n int) []byte {
	if offset < 0 || offset+int64(n) > s.size {
		return nil
	}
	if offset < s.start || offset+int64(n) > s.start+int64(len(s.window)) {
		if !s.load(offset, n) {
			s.window = s.window[:0]
			return nil
		}
	}
	from := offset - s.start
	return s.window[from : from+int64(n)]
}

// load reads n bytes and, if the disk can, a window of what follows. In a
// window in which something can't be read it goes on sector by sector.
func (s *scanner) load(offset int64, n int) bool {
	end := min(offset+int64(max(n, scanWindow)), s.size)
	if offset >= s.rough {
		if s.fill(offset, int(end-offset)) {
			return true
		}
		s.rough = end
	}
	end = min((offset+int64(n)+sector-1)&^(sector-1), s.size)
	return s.fill(offset, int(end-offset))
}

func (s *scanner) fill(offset int64, n int) bool {
	if cap(s.window) < n {
		s.window = make([]byte, n)
	}
	s.window, s.start = s.window[:n], offset
	s.failed = readFull(s.file, s.window, offset)
	return s.failed == nil
}

// scanned is a frame, or the header of one.
type scanned struct {
	frameHeader
	offset  int64
	payload []byte // valid until the next call of the scanner
}

func (f scanned) end() int64 { return f.offset + f.size() }

func (f scanned) location(segment uint64) location {
	return location{segment: segment, offset: f.offset, length: f.length}
}

func (s *scanner) place(offset int64) place { return place{s.salt, s.id, offset} }

// header reads the frame header at offset.
func (s *scanner) header(offset int64) (scanned, bool) {
	b := s.at(offset, frameHeaderSize)
	if b == nil {
		return scanned{}, false
	}
	h, ok := getFrameHeader((*[frameHeaderSize]byte)(b), s.place(offset), s.size-offset)
	return scanned{frameHeader: h, offset: offset}, ok
}

// frame reads the frame at offset, or says what is wrong with it.
func (s *scanner) frame(offset int64) (scanned, error) {
	s.failed = nil
	f, ok := s.header(offset)
	if !ok {
		return scanned{}, s.why(errNoFrame)
	}
	b := s.at(offset, frameHeaderSize+int(f.length))
	if b == nil {
		return scanned{}, s.why(errNoFrame)
	}
	f.payload = b[frameHeaderSize:]
	if !f.holds(s.place(offset), f.payload) {
		return scanned{}, fmt.Errorf("%w: the payload of a %v frame is damaged", errNoFrame, f.kind)
	}
	return f, nil
}

var errNoFrame = errors.New("no sound frame")

// why prefers the error of the disk.
func (s *scanner) why(err error) error {
	if s.failed != nil {
		return s.failed
	}
	return err
}

// next finds the first sound header at or behind offset.
func (s *scanner) next(offset int64) (scanned, bool) {
	for offset+frameHeaderSize <= s.size {
		f, ok := s.header(offset)
		if ok {
			return f, true
		}
		offset += frameAlign
		if len(s.window) == 0 { // unreadable
			offset = (offset + sector - 1) &^ (sector - 1)
		}
	}
	return scanned{}, false
}

// durable is the highest offset that a header says was synced: what is bad
// below is damaged, what is bad above was perhaps never whole.
func (s *scanner) durable() int64 {
	top := int64(headerSize)
	for at := int64(headerSize); ; {
		f, ok := s.next(at)
		if !ok {
			return top
		}
		top, at = max(top, f.synced), f.end()
	}
}

// badFrame is where a segment is damaged, and how.
type badFrame struct {
	offset int64
	err    error
}

// replayed is what a segment turned out to hold.
type replayed struct {
	durable int64 // everything below is known to be synced
	end     int64 // of the frames that count
	bad     []badFrame
}

// replay calls each for every frame that counts: up to the tail's first bad
// one, and around what is damaged.
func (s *scanner) replay(each func(scanned)) replayed {
	r := replayed{durable: s.durable(), end: headerSize}
	for at := int64(headerSize); ; {
		f, err := s.frame(at)
		if err == nil {
			each(f)
			at = f.end()
			r.end = at
			continue
		}
		if at >= r.durable && errors.Is(err, errNoFrame) {
			return r
		}
		r.bad = append(r.bad, badFrame{at, err})
		if at = s.behind(at, r.durable); at < 0 {
			return r
		}
	}
}

// behind is where to go on behind the bad frame at offset, or -1 if what
// follows doesn't count.
func (s *scanner) behind(offset, durable int64) int64 {
	if f, ok := s.header(offset); ok { // only its payload is bad
		if offset < durable {
			return f.end()
		}
		return -1
	}
	f, ok := s.next(offset + frameAlign)
	if !ok || f.offset > durable {
		return -1
	}
	return f.offset
}
