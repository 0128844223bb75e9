package log

import (
	"encoding/binary"
	"hash/crc32"
)

// Frozen format values: see the package comment.
const (
	// FrameHeaderSize is the length of a frame's header, in bytes.
	FrameHeaderSize = 24
	frameAlign      = 8
)

// MaxFrame bounds a frame's payload: a length above it is damage and not a
// reason to allocate. Fluent Bit's chunks have a soft limit of 2 MB, which one
// append may exceed by an input's largest message.
const MaxFrame = 1 << 30

// Kind is what a frame says. Its meaning is the user's; 0 is none.
type Kind uint8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC is the checksum that the state uses throughout: CRC-32C.
func CRC(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// FrameSize is the room that a payload of n bytes takes in a segment.
func FrameSize(n int) int64 {
	return (int64(FrameHeaderSize+n) + frameAlign - 1) &^ (frameAlign - 1)
}

// Place is where a frame lies. It enters the frame's checksums.
type Place struct {
	Salt    uint64 // of the segment
	Segment uint64
	Offset  int64
}

// Seed is the checksum that the frame's checksums go on from.
func (p Place) Seed() uint32 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], p.Salt)
	binary.LittleEndian.PutUint64(b[8:], p.Segment)
	binary.LittleEndian.PutUint64(b[16:], uint64(p.Offset))
	return CRC(b[:])
}

// frameHeader is a frame's header, decoded.
type frameHeader struct {
	length uint32 // of the payload
	kind   Kind
	synced int64
	body   uint32
}

func (f frameHeader) size() int64 { return FrameSize(int(f.length)) }

// PutFrameHeader fills the header of a frame whose payload is the
// concatenation of parts.
func PutFrameHeader(h *[FrameHeaderSize]byte, at Place, synced int64, kind Kind, parts [][]byte) {
	seed, n := at.Seed(), 0
	body := seed
	for _, p := range parts {
		n += len(p)
		body = crc32.Update(body, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(h[0:], uint32(n))
	binary.LittleEndian.PutUint32(h[4:], uint32(kind))
	binary.LittleEndian.PutUint64(h[8:], uint64(synced))
	binary.LittleEndian.PutUint32(h[16:], body)
	binary.LittleEndian.PutUint32(h[20:], crc32.Update(seed, castagnoli, h[:20]))
}

// getFrameHeader decodes the header of a frame for which there is room. It
// reports false for anything that isn't a header written for that Place. What
// is cheap is checked first: most bytes that are asked about are no header.
func getFrameHeader(h *[FrameHeaderSize]byte, at Place, room int64) (frameHeader, bool) {
	kind := binary.LittleEndian.Uint32(h[4:])
	f := frameHeader{
		length: binary.LittleEndian.Uint32(h[0:]),
		kind:   Kind(kind),
		synced: int64(binary.LittleEndian.Uint64(h[8:])),
		body:   binary.LittleEndian.Uint32(h[16:]),
	}
	if kind == 0 || kind > 255 || f.length > MaxFrame || f.size() > room || f.synced < 0 || f.synced > at.Offset {
		return frameHeader{}, false
	}
	if crc32.Update(at.Seed(), castagnoli, h[:20]) != binary.LittleEndian.Uint32(h[20:]) {
		return frameHeader{}, false
	}
	return f, true
}

// holds reports whether the payload is the one that the header was written for.
func (f frameHeader) holds(at Place, payload []byte) bool {
	return crc32.Update(at.Seed(), castagnoli, payload) == f.body
}
