package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Frozen format values: see the package comment.
const (
	frameHeaderSize = 24
	frameAlign      = 8
)

// maxFrame bounds a frame's payload: a length above it is damage and not a
// reason to allocate. Fluent Bit's chunks have a soft limit of 2 MB, which one
// append may exceed by an input's largest message.
const maxFrame = 1 << 30

// Kind is what a frame says.
type Kind uint8

// Frozen: a kind's number never changes its meaning.
const (
	KindSnapshot  Kind = 1
	KindChunk     Kind = 2
	KindDecoding  Kind = 3
	KindRolled    Kind = 4
	KindAttempt   Kind = 5
	KindUploaded  Kind = 6
	KindRenaming  Kind = 7
	KindFinished  Kind = 8
	KindAbandoned Kind = 9
	KindVoid      Kind = 10
	KindSeen      Kind = 11
	KindHeld      Kind = 12
	KindResolved  Kind = 13
	KindLost      Kind = 14
)

func (k Kind) String() string {
	names := [...]string{"", "snapshot", "chunk", "decoding", "rolled", "attempt", "uploaded",
		"renaming", "finished", "abandoned", "void", "seen", "held", "resolved", "lost"}
	if k == 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return names[k]
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC is the checksum that the state uses throughout: CRC-32C.
func CRC(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// frameSize is the room that a payload of n bytes takes in a segment.
func frameSize(n int) int64 {
	return (int64(frameHeaderSize+n) + frameAlign - 1) &^ (frameAlign - 1)
}

// place is where a frame lies. It enters the frame's checksums.
type place struct {
	salt    uint64 // of the segment
	segment uint64
	offset  int64
}

// seed is the checksum that the frame's checksums go on from.
func (p place) seed() uint32 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], p.salt)
	binary.LittleEndian.PutUint64(b[8:], p.segment)
	binary.LittleEndian.PutUint64(b[16:], uint64(p.offset))
	return CRC(b[:])
}

// frameHeader is a frame's header, decoded.
type frameHeader struct {
	length uint32 // of the payload
	kind   Kind
	synced int64
	body   uint32
}

func (f frameHeader) size() int64 { return frameSize(int(f.length)) }

// putFrameHeader fills the header of a frame whose payload is the
// concatenation of parts.
func putFrameHeader(h *[frameHeaderSize]byte, at place, synced int64, kind Kind, parts [][]byte) {
	seed, n := at.seed(), 0
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
// reports false for anything that isn't a header written for that place. What
// is cheap is checked first: most bytes that are asked about are no header.
func getFrameHeader(h *[frameHeaderSize]byte, at place, room int64) (frameHeader, bool) {
	kind := binary.LittleEndian.Uint32(h[4:])
	f := frameHeader{
		length: binary.LittleEndian.Uint32(h[0:]),
		kind:   Kind(kind),
		synced: int64(binary.LittleEndian.Uint64(h[8:])),
		body:   binary.LittleEndian.Uint32(h[16:]),
	}
	if kind == 0 || kind > 255 || f.length > maxFrame || f.size() > room || f.synced < 0 || f.synced > at.offset {
		return frameHeader{}, false
	}
	if crc32.Update(at.seed(), castagnoli, h[:20]) != binary.LittleEndian.Uint32(h[20:]) {
		return frameHeader{}, false
	}
	return f, true
}

// holds reports whether the payload is the one that the header was written for.
func (f frameHeader) holds(at place, payload []byte) bool {
	return crc32.Update(at.seed(), castagnoli, payload) == f.body
}
