package staging

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"strings"
)

// A rolled part's staged file says behind its content what it is, so that it is
// found again where the journal is damaged:
//
//	file := content description length:u32 crc:u32 magic[8]
//
// length is the description's, in bytes, and crc the CRC-32C of the description and
// of the length. The integers are little endian. Who wrote it knows what the
// description says; the frozen format values are these two.
const (
	footerMagic = "OHDFSPRT"
	footerSize  = 4 + 4 + len(footerMagic)
)

// mostDescription bounds a description: a length above it is damage.
const mostDescription = 1 << 30

// appendFooter returns the description with what follows it.
func appendFooter(description []byte) []byte {
	b := binary.LittleEndian.AppendUint32(description, uint32(len(description)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return append(b, footerMagic...)
}

// Description is what the staged file says of itself, nil if it says nothing that
// is sound, as that of a part which wasn't rolled.
func (a *Area) Description(name string) ([]byte, error) {
	f, err := a.disk.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open staged file %s: %w", name, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("read staged file %s: %w", name, err)
	}
	d, err := description(f, size)
	if d == nil { // what the kernel remembers of it may be wrong
		d, err = description(direct{f}, size)
	}
	if d == nil && err != nil {
		return nil, nil // what can't be read says nothing
	}
	return d, nil
}

func description(f io.ReaderAt, size int64) ([]byte, error) {
	var footer [footerSize]byte
	at := size - int64(len(footer))
	if at < 0 {
		return nil, nil
	}
	if _, err := f.ReadAt(footer[:], at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(footer[:]))
	if string(footer[8:]) != footerMagic || n > at || n > mostDescription {
		return nil, nil
	}
	b := make([]byte, n+4)
	if _, err := f.ReadAt(b, at-n); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(footer[4:]) {
		return nil, nil
	}
	return b[:n], nil
}

// List names the staged files.
func (a *Area) List() ([]string, error) {
	names, err := a.disk.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the staging directory: %w", err)
	}
	var out []string
	for _, n := range names {
		if strings.Trim(n, "0123456789") == "" {
			out = append(out, path.Join(dir, n))
		}
	}
	return out, nil
}

// Holds reports whether a staged file begins with a content of that length and
// CRC-32C.
func (a *Area) Holds(name string, length int64, crc uint32) (bool, error) {
	f, err := a.disk.Open(name)
	if err != nil {
		return false, fmt.Errorf("open staged file: %w", err)
	}
	defer f.Close()
	for _, r := range []io.ReaderAt{f, direct{f}} {
		if sum, n, err := checksum(r, length); err == nil && n == length && sum == crc {
			return true, nil
		}
	}
	return false, nil // what can't be read isn't what it was
}

// addTrailer counts bytes of a file that aren't content.
func (a *Area) addTrailer(name string, n int64) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.trailers[name] += n
	a.bytes.Add(n)
}

// dropTrailer is how many those are. The file is about to go.
func (a *Area) dropTrailer(name string) (n int64) {
	a.lock.Lock()
	defer a.lock.Unlock()
	n = a.trailers[name]
	delete(a.trailers, name)
	return n
}

// countTrailer counts what a pending part's file holds beyond its content. One that
// can't be looked at has none: whoever uploads it finds out why.
func (a *Area) countTrailer(s Staged) {
	f, err := a.disk.Open(s.Name)
	if err != nil {
		return
	}
	defer f.Close()
	if size, err := f.Size(); err == nil && size > s.Length {
		a.addTrailer(s.Name, size-s.Length)
	}
}
