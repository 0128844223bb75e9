package log

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Frozen format values: see the package comment.
const (
	// Magic begins every segment.
	Magic = "OHDFSJNL"
	// Version is the newest format that is written and read. Version 1 differs in
	// that its users can't tell what a reader may skip.
	Version = 2
	// HeaderSize is the length of a header of Version, in bytes.
	HeaderSize = 64
	// MaxHeader is how long a header of any version is at most.
	MaxHeader = 4096
)

// Header is a segment's header, decoded.
type Header struct {
	Version uint32
	Segment uint64
	State   [16]byte // of what the segment belongs to
	Created int64    // Unix nanoseconds
	Salt    uint64
	// Previous is the Seed of the Place up to which the segment before counts; 0 if
	// there is none, or if what its frames said wasn't known as a whole. Version 1
	// has 0.
	Previous uint32
}

func newHeader(segment uint64, state [16]byte, previous uint32) Header {
	var salt [8]byte
	rand.Read(salt[:]) // never fails
	return Header{
		Version: Version, Segment: segment, State: state,
		Created: time.Now().UnixNano(), Salt: binary.LittleEndian.Uint64(salt[:]), Previous: previous,
	}
}

// Encode is the header as it begins and ends a segment.
func (s Header) Encode() []byte {
	b := make([]byte, HeaderSize)
	copy(b, Magic)
	binary.LittleEndian.PutUint32(b[8:], s.Version)
	binary.LittleEndian.PutUint32(b[12:], HeaderSize)
	binary.LittleEndian.PutUint64(b[16:], s.Segment)
	copy(b[24:40], s.State[:])
	binary.LittleEndian.PutUint64(b[40:], uint64(s.Created))
	binary.LittleEndian.PutUint64(b[48:], s.Salt)
	binary.LittleEndian.PutUint32(b[56:], s.Previous)
	binary.LittleEndian.PutUint32(b[60:], CRC(b[:60]))
	return b
}

// VersionError is the error of a journal that a newer release wrote.
type VersionError struct {
	Found uint32 // the format's version
	// Needs is what this release must know to read it and doesn't, in words; "" if
	// the version alone says that it can't.
	Needs string
}

func (e *VersionError) Error() string {
	const do = "run the release that wrote it, or let that one finish the state with `out-hdfs drain --state-dir DIR` first"
	if e.Needs != "" {
		return fmt.Sprintf("journal holds what this release doesn't know, %s: %s", e.Needs, do)
	}
	return fmt.Sprintf("journal has format version %d, this release reads up to %d: %s", e.Found, Version, do)
}

var (
	errNoHeader  = errors.New("it doesn't begin as a journal segment does")
	errBadHeader = errors.New("its header is damaged")
)

// DecodeHeader decodes the header that b begins with. A sound header of
// a newer version is a *VersionError: what it is the header of isn't damaged.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize || string(b[:8]) != Magic {
		return Header{}, errNoHeader
	}
	found, size := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	if size < HeaderSize || uint64(size) > uint64(len(b)) || CRC(b[:size-4]) != binary.LittleEndian.Uint32(b[size-4:]) {
		return Header{}, errBadHeader
	}
	if found > Version {
		return Header{}, &VersionError{Found: found}
	}
	if found == 0 || size != HeaderSize {
		return Header{}, errBadHeader
	}
	return Header{
		Version:  found,
		Segment:  binary.LittleEndian.Uint64(b[16:]),
		State:    [16]byte(b[24:40]),
		Created:  int64(binary.LittleEndian.Uint64(b[40:])),
		Salt:     binary.LittleEndian.Uint64(b[48:]),
		Previous: binary.LittleEndian.Uint32(b[56:]),
	}, nil
}
