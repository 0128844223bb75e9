package log

import (
	"errors"
	"fmt"
	"math"

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
	failed   error
	kindName func(Kind) string
}

const (
	scanWindow = 1 << 20
	// Sector is in what units a disk fails to read.
	Sector = 512
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
// window in which something can't be read it goes on Sector by Sector.
func (s *scanner) load(offset int64, n int) bool {
	end := min(offset+int64(max(n, scanWindow)), s.size)
	if offset >= s.rough {
		if s.fill(offset, int(end-offset)) {
			return true
		}
		s.rough = end
	}
	end = min((offset+int64(n)+Sector-1)&^(Sector-1), s.size)
	return s.fill(offset, int(end-offset))
}

func (s *scanner) fill(offset int64, n int) bool { return s.fillBy(s.file.ReadAt, offset, n) }

func (s *scanner) fillBy(read readAt, offset int64, n int) bool {
	if cap(s.window) < n {
		s.window = make([]byte, n)
	}
	s.window, s.start = s.window[:n], offset
	s.failed = readFull(read, s.window, offset)
	return s.failed == nil
}

// scanned is a frame, or the header of one.
type scanned struct {
	frameHeader
	offset  int64
	payload []byte // valid until the next call of the scanner
}

func (f scanned) end() int64 { return f.offset + f.size() }

func (f scanned) location(segment uint64) Location {
	return Location{Segment: segment, Offset: f.offset, Length: f.length}
}

func (s *scanner) place(offset int64) Place { return Place{s.salt, s.id, offset} }

// header reads the frame header at offset.
func (s *scanner) header(offset int64) (scanned, bool) {
	b := s.at(offset, FrameHeaderSize)
	if b == nil {
		return scanned{}, false
	}
	h, ok := getFrameHeader((*[FrameHeaderSize]byte)(b), s.place(offset), s.size-offset)
	return scanned{frameHeader: h, offset: offset}, ok
}

// frame reads the frame at offset, or says what is wrong with it. What isn't sound
// is read once more from the disk itself before that is believed.
func (s *scanner) frame(offset int64) (scanned, error) {
	f, err := s.frameOnce(offset)
	if err == nil || !errors.Is(err, errNoFrame) || offset+FrameHeaderSize > s.size {
		return f, err
	}
	n := FrameHeaderSize
	if h, ok := s.header(offset); ok {
		n = int(min(h.size(), s.size-offset))
	}
	if !s.fillBy(s.file.ReadDirect, offset, n) {
		s.window = s.window[:0]
		return scanned{}, err
	}
	if again, stillBad := s.frameOnce(offset); stillBad == nil {
		return again, nil
	}
	return scanned{}, err
}

func (s *scanner) frameOnce(offset int64) (scanned, error) {
	s.failed = nil
	f, ok := s.header(offset)
	if !ok {
		return scanned{}, s.why(errNoFrame)
	}
	b := s.at(offset, FrameHeaderSize+int(f.length))
	if b == nil {
		return scanned{}, s.why(errNoFrame)
	}
	f.payload = b[FrameHeaderSize:]
	if !f.holds(s.place(offset), f.payload) {
		return scanned{}, fmt.Errorf("%w: the payload of a %s frame is damaged", errNoFrame, s.kindName(f.kind))
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
	for offset+FrameHeaderSize <= s.size {
		f, ok := s.header(offset)
		if ok {
			return f, true
		}
		offset += frameAlign
		if len(s.window) == 0 { // unreadable
			offset = (offset + Sector - 1) &^ (Sector - 1)
		}
	}
	return scanned{}, false
}

// durable is the highest offset that a header says was synced: what is bad
// below is damaged, what is bad above was perhaps never whole.
func (s *scanner) durable() int64 {
	top := int64(HeaderSize)
	for at := int64(HeaderSize); ; {
		f, ok := s.next(at)
		if !ok {
			return top
		}
		top, at = max(top, f.synced), f.end()
	}
}

// replay calls each for every frame that counts: up to the place that next names,
// or the tail's first bad one, and around what is damaged.
func (s *scanner) replay(next uint32, each func(scanned)) Replayed {
	r := Replayed{Durable: s.durable(), End: HeaderSize}
	for at := int64(HeaderSize); ; {
		if next != 0 && s.place(at).Seed() == next {
			r.Linked, r.End = true, at
			return r
		}
		f, err := s.frame(at)
		if err == nil {
			each(f)
			at = f.end()
			r.End = at
			continue
		}
		if at >= r.Durable && errors.Is(err, errNoFrame) {
			r.CutOff = s.cutOff(at)
			return r
		}
		if f, ok := s.repair(at); ok && at < r.Durable {
			each(f)
			r.Repaired = append(r.Repaired, at)
			at = f.end()
			r.End = at
			continue
		}
		bad := BadFrame{Offset: at, End: s.size, Err: err}
		if f, ok := s.header(at); ok {
			bad.Kind = f.kind
		}
		at = s.behind(at, r.Durable)
		if at >= 0 {
			bad.End = at
		}
		r.Bad = append(r.Bad, bad)
		if at < 0 {
			return r
		}
	}
}

// cutOff reports whether a frame at offset would reach beyond the file's end.
func (s *scanner) cutOff(offset int64) bool {
	b := s.at(offset, FrameHeaderSize)
	if b == nil {
		return true
	}
	_, ok := getFrameHeader((*[FrameHeaderSize]byte)(b), s.place(offset), math.MaxInt64)
	_, fits := s.header(offset)
	return ok && !fits
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
