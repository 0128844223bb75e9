package journal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Frozen format values: see the package comment.
const (
	magic      = "OHDFSJNL"
	version    = 1
	headerSize = 64
	// maxHeader is how long a header of any version is at most.
	maxHeader = 4096
)

// segmentHeader is a segment's header, decoded.
type segmentHeader struct {
	version uint32
	segment uint64
	state   [16]byte
	created int64 // Unix nanoseconds
	salt    uint64
}

func newSegmentHeader(segment uint64, state [16]byte) segmentHeader {
	var salt [8]byte
	rand.Read(salt[:]) // never fails
	return segmentHeader{
		version: version, segment: segment, state: state,
		created: time.Now().UnixNano(), salt: binary.LittleEndian.Uint64(salt[:]),
	}
}

func (s segmentHeader) encode() []byte {
	b := make([]byte, headerSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], s.version)
	binary.LittleEndian.PutUint32(b[12:], headerSize)
	binary.LittleEndian.PutUint64(b[16:], s.segment)
	copy(b[24:40], s.state[:])
	binary.LittleEndian.PutUint64(b[40:], uint64(s.created))
	binary.LittleEndian.PutUint64(b[48:], s.salt)
	binary.LittleEndian.PutUint32(b[60:], CRC(b[:60]))
	return b
}

// VersionError is the error of a journal that a newer release wrote.
type VersionError struct{ Found uint32 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("journal has format version %d, this release reads up to %d: "+
		"run the release that wrote it, or let that one finish the state with `out-hdfs drain --state-dir DIR` first", e.Found, version)
}

var (
	errNoHeader  = errors.New("it doesn't begin as a journal segment does")
	errBadHeader = errors.New("its header is damaged")
)

// decodeSegmentHeader decodes the header that b begins with. A sound header of
// a newer version is a *VersionError: what it is the header of isn't damaged.
func decodeSegmentHeader(b []byte) (segmentHeader, error) {
	if len(b) < headerSize || string(b[:8]) != magic {
		return segmentHeader{}, errNoHeader
	}
	found, size := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	if size < headerSize || uint64(size) > uint64(len(b)) || CRC(b[:size-4]) != binary.LittleEndian.Uint32(b[size-4:]) {
		return segmentHeader{}, errBadHeader
	}
	if found > version {
		return segmentHeader{}, &VersionError{Found: found}
	}
	if found == 0 || size != headerSize {
		return segmentHeader{}, errBadHeader
	}
	return segmentHeader{
		version: found,
		segment: binary.LittleEndian.Uint64(b[16:]),
		state:   [16]byte(b[24:40]),
		created: int64(binary.LittleEndian.Uint64(b[40:])),
		salt:    binary.LittleEndian.Uint64(b[48:]),
	}, nil
}
