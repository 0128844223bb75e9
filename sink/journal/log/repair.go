package log

import (
	"encoding/binary"
	"hash/crc32"
)

// A frame's header is a few bytes among many, and its fields say much of each
// other: from a payload that is whole, length and body sum follow. So where one
// field is damaged the frame is still there.

// repairHeader makes out what the damaged header of a payload said. It reports
// false unless one damaged field explains it, of a sum one byte: sums of sums depend
// on each other too much for more.
func repairHeader(h [FrameHeaderSize]byte, at Place, payload []byte) (frameHeader, bool) {
	seed := at.Seed()
	fixed := h
	binary.LittleEndian.PutUint32(fixed[0:], uint32(len(payload)))
	clear(fixed[5:8])
	binary.LittleEndian.PutUint32(fixed[16:], crc32.Update(seed, castagnoli, payload))
	body, head := binary.LittleEndian.Uint32(h[16:]), binary.LittleEndian.Uint32(h[20:])
	if bytesApart(body, binary.LittleEndian.Uint32(fixed[16:])) > 1 {
		return frameHeader{}, false // nothing says that the payload is whole
	}
	sealed := func() bool { return crc32.Update(seed, castagnoli, fixed[:20]) == head }
	answer := func() (frameHeader, bool) {
		binary.LittleEndian.PutUint32(fixed[20:], crc32.Update(seed, castagnoli, fixed[:20]))
		return getFrameHeader(&fixed, at, FrameSize(len(payload)))
	}
	if sealed() {
		return answer() // length, padding, the body's sum
	}
	for _, i := range []int{4, 8, 9, 10, 11, 12, 13, 14, 15} { // kind, or a byte of synced
		was := fixed[i]
		for v := range 256 {
			if fixed[i] = byte(v); sealed() {
				return answer()
			}
		}
		fixed[i] = was
	}
	if [20]byte(fixed[:20]) == [20]byte(h[:20]) && bytesApart(head, crc32.Update(seed, castagnoli, fixed[:20])) == 1 {
		return answer() // the header's own sum
	}
	return frameHeader{}, false
}

// bytesApart is how many bytes differ.
func bytesApart(a, b uint32) (n int) {
	for d := a ^ b; d != 0; d >>= 8 {
		if d&0xff != 0 {
			n++
		}
	}
	return n
}

// repair is the frame at offset, whose header is damaged, if that can be made out.
// The next sound header says where the frame ends.
func (s *scanner) repair(offset int64) (scanned, bool) {
	next, ok := s.next(offset + frameAlign)
	if !ok || next.offset-offset < FrameHeaderSize || next.offset-offset > MaxFrame {
		return scanned{}, false
	}
	b := s.at(offset, int(next.offset-offset))
	if b == nil {
		return scanned{}, false
	}
	h, payload := [FrameHeaderSize]byte(b), b[FrameHeaderSize:]
	for range frameAlign {
		if f, ok := repairHeader(h, s.place(offset), payload); ok {
			return scanned{f, offset, payload}, true
		}
		if len(payload) == 0 || payload[len(payload)-1] != 0 {
			break // it isn't padded
		}
		payload = payload[:len(payload)-1]
	}
	return scanned{}, false
}
