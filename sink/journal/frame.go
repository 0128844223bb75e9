package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Frozen format values: see the package comment.
const (
	magic           = "OHDFSJNL"
	version         = 1
	headerSize      = 64
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
)

func (k Kind) String() string {
	names := [...]string{"", "snapshot", "chunk", "decoding", "rolled", "attempt", "uploaded",
		"renaming", "finished", "abandoned", "void", "seen", "held", "resolved"}
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

// frameHeader is a frame's header, decoded.
type frameHeader struct {
	length uint32
	crc    uint32
	synced uint64
	kind   Kind
}

// putFrameHeader fills the header of a frame whose payload is the
// concatenation of parts.
func putFrameHeader(h *[frameHeaderSize]byte, segment uint64, offset int64, synced int64, kind Kind, parts [][]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	binary.LittleEndian.PutUint32(h[0:], uint32(n))
	binary.LittleEndian.PutUint64(h[8:], uint64(synced))
	binary.LittleEndian.PutUint64(h[16:], uint64(kind))
	sum := frameCRC(h, segment, offset)
	for _, p := range parts {
		sum = crc32.Update(sum, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(h[4:], sum)
}

// frameCRC is the checksum of what precedes the payload.
func frameCRC(h *[frameHeaderSize]byte, segment uint64, offset int64) uint32 {
	var b [36]byte
	binary.LittleEndian.PutUint64(b[0:], segment)
	binary.LittleEndian.PutUint64(b[8:], uint64(offset))
	copy(b[16:20], h[0:4])
	copy(b[20:36], h[8:24])
	return CRC(b[:])
}

var errBadFrame = errors.New("bad frame")

// getFrameHeader decodes a header without knowing whether it is sound; only
// the payload's checksum tells. It fails on what can't be a frame at all.
func getFrameHeader(h *[frameHeaderSize]byte, room int64) (frameHeader, error) {
	f := frameHeader{
		length: binary.LittleEndian.Uint32(h[0:]),
		crc:    binary.LittleEndian.Uint32(h[4:]),
		synced: binary.LittleEndian.Uint64(h[8:]),
		kind:   Kind(h[16]),
	}
	if f.kind == 0 || f.length > maxFrame || frameSize(int(f.length)) > room {
		return frameHeader{}, errBadFrame
	}
	return f, nil
}

// segmentHeader is a segment's header, decoded.
type segmentHeader struct {
	version uint32
	segment uint64
	state   [16]byte
	created int64 // Unix nanoseconds
}

func (s segmentHeader) encode() []byte {
	b := make([]byte, headerSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], s.version)
	binary.LittleEndian.PutUint32(b[12:], headerSize)
	binary.LittleEndian.PutUint64(b[16:], s.segment)
	copy(b[24:40], s.state[:])
	binary.LittleEndian.PutUint64(b[40:], uint64(s.created))
	binary.LittleEndian.PutUint32(b[60:], CRC(b[:60]))
	return b
}

// VersionError is the error of a journal that a newer release wrote.
type VersionError struct{ Found uint32 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("journal has format version %d, this release reads up to %d: "+
		"run the release that wrote it, or let that one finish the state with `out-hdfs drain` first", e.Found, version)
}

func decodeSegmentHeader(b []byte) (segmentHeader, error) {
	if len(b) < headerSize || string(b[:8]) != magic {
		return segmentHeader{}, errors.New("no journal segment")
	}
	s := segmentHeader{
		version: binary.LittleEndian.Uint32(b[8:]),
		segment: binary.LittleEndian.Uint64(b[16:]),
		state:   [16]byte(b[24:40]),
		created: int64(binary.LittleEndian.Uint64(b[40:])),
	}
	if CRC(b[:60]) != binary.LittleEndian.Uint32(b[60:]) {
		return segmentHeader{}, errors.New("segment header damaged")
	}
	if s.version > version {
		return segmentHeader{}, &VersionError{Found: s.version}
	}
	return s, nil
}
