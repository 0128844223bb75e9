// Package chunkfile tells which of Fluent Bit's chunk files a slice lies in.
//
// With storage.type filesystem, and no processor on the output, what Fluent
// Bit hands to a flush is a window on a mapped file
// <storage.path>/<stream>/<name>.flb. That file is the chunk's identity: its
// name stays the same over retries and over restarts of the agent, while two
// chunks may well have equal content. The kernel knows the mapping, so the
// address alone finds the file.
//
// A Finder only looks: it never opens, reads or changes a chunk file. It must
// be asked while the slice is still mapped, that is before the flush returns.
package chunkfile

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// suffix is what Fluent Bit ends its chunk files' names with.
const suffix = ".flb"

// deleted is what the kernel appends to the path of a mapped file that has
// been unlinked. The mapping, and with it the identity, is still good.
const deleted = " (deleted)"

// File is a chunk file by its place. The zero File means that none is known.
type File struct {
	Dir    string // storage.path, absolute
	Stream string // the folder of one input below Dir, such as tail.0
	Name   string // <pid>-<sec>.<nsec>.flb; the nsec may be padded with spaces
}

// Known reports whether f names a file.
func (f File) Known() bool { return f.Name != "" }

// Path is the file's path, or "" if none is known.
func (f File) Path() string {
	if !f.Known() {
		return ""
	}
	if f.Dir == "/" {
		return "/" + f.Stream + "/" + f.Name
	}
	return f.Dir + "/" + f.Stream + "/" + f.Name
}

// Finder holds this process's memory map open, so that a look-up can't fail
// for want of a file descriptor. It is safe for concurrent use. It belongs to
// the process that opened it and is useless after a fork.
type Finder struct {
	fd    int
	query bool // the kernel answers for one address (Linux 6.11 and later)

	mu  sync.Mutex // guards buf, which a scan of the whole map reads into
	buf []byte
}

// Open opens the memory map. An error means that there is no /proc here, and
// so no chunk can be told from an equal one.
func Open() (*Finder, error) {
	const path = "/proc/self/maps"
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s to find the chunk files that are mapped: %w", path, err)
	}
	f := &Finder{fd: fd}
	probe := new(byte)
	_, _, err = f.ask(uintptr(unsafe.Pointer(probe)))
	// The probe's own mapping has no name, which is an answer too.
	f.query = err == nil
	return f, nil
}

// Close releases the memory map. No Find may be under way or follow.
func (f *Finder) Close() error {
	if err := unix.Close(f.fd); err != nil {
		return fmt.Errorf("close /proc/self/maps: %w", err)
	}
	return nil
}

// Find returns the chunk file that all of data is mapped from, or the zero
// File if it is memory, empty, or mapped from something else. An error means
// that the kernel could not be asked, and so that nothing is known; asking
// again may work.
func (f *Finder) Find(data []byte) (File, error) {
	if len(data) == 0 {
		return File{}, nil
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	var path string
	var err error
	if f.query {
		var end uintptr
		path, end, err = f.ask(start)
		if end-start < uintptr(len(data)) {
			path = ""
		}
	} else {
		path, err = f.scanMaps(uint64(start), uint64(start)+uint64(len(data)))
	}
	if err != nil {
		return File{}, fmt.Errorf("look up the chunk file of a flush in /proc/self/maps: %w", err)
	}
	return split(path), nil
}

// split takes a path apart. A path that is no chunk file's gives the zero File.
func split(path string) File {
	if !strings.HasPrefix(path, "/") || !strings.HasSuffix(path, suffix) {
		return File{}
	}
	at := strings.LastIndexByte(path, '/')
	name, rest := path[at+1:], path[:at]
	at = strings.LastIndexByte(rest, '/')
	if at < 0 || name == suffix {
		return File{}
	}
	dir := rest[:at]
	if dir == "" {
		dir = "/"
	}
	return File{Dir: dir, Stream: rest[at+1:], Name: name}
}

// scanMaps reads the textual map for the mapping that [lo, hi) lies in.
func (f *Finder) scanMaps(lo, hi uint64) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.buf == nil {
		f.buf = make([]byte, scanBuffer)
	}
	var at int64
	m, err := scan(f.buf, lo, hi, func(p []byte) (int, error) {
		n, err := unix.Pread(f.fd, p, at)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Pread(f.fd, p, at)
		}
		at += int64(max(n, 0))
		return n, err
	})
	if err != nil {
		return "", err
	}
	return unescape(string(m.path), m.inode), nil
}

// unescape undoes what the textual map does to a path: a newline is written
// \012, and nothing else is escaped, so that \012 may also be what the path
// says. The file itself decides.
func unescape(path string, inode uint64) string {
	if !strings.Contains(path, newline) {
		return strings.TrimSuffix(path, deleted)
	}
	path = strings.TrimSuffix(path, deleted)
	var st unix.Stat_t
	if unix.Stat(path, &st) == nil && st.Ino == inode {
		return path
	}
	return strings.ReplaceAll(path, newline, "\n")
}
