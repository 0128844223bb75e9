package chunkfile

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// procmapQuery is struct procmap_query of the kernel's uapi/linux/fs.h.
type procmapQuery struct {
	size        uint64
	queryFlags  uint64
	queryAddr   uint64
	vmaStart    uint64
	vmaEnd      uint64
	vmaFlags    uint64
	vmaPageSize uint64
	vmaOffset   uint64
	inode       uint64
	devMajor    uint32
	devMinor    uint32
	nameSize    uint32
	buildIDSize uint32
	nameAddr    uint64
	buildIDAddr uint64
}

// procmapQueryRequest is PROCMAP_QUERY: _IOWR('f', 17, struct procmap_query).
const procmapQueryRequest = 3<<30 | unsafe.Sizeof(procmapQuery{})<<16 | 'f'<<8 | 17

// ask asks the kernel for the one mapping that covers the address, and returns
// its path, without escapes, and its end. An address that nothing covers, and
// a mapping without a path, give "".
func (f *Finder) ask(address uintptr) (path string, end uintptr, err error) {
	// A path longer than the kernel's own limit can't be mapped.
	var name [unix.PathMax]byte
	q := procmapQuery{
		size:      uint64(unsafe.Sizeof(procmapQuery{})),
		queryAddr: uint64(address),
		nameSize:  uint32(len(name)),
		nameAddr:  uint64(uintptr(unsafe.Pointer(&name[0]))),
	}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.fd), procmapQueryRequest, uintptr(unsafe.Pointer(&q)))
	for errno == unix.EINTR {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(f.fd), procmapQueryRequest, uintptr(unsafe.Pointer(&q)))
	}
	runtime.KeepAlive(&name)
	if errors.Is(errno, unix.ENOENT) {
		return "", 0, nil
	}
	if errno != 0 {
		return "", 0, errno
	}
	text := name[:min(int(q.nameSize), len(name))]
	if i := bytes.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	if len(text) == 0 || text[0] != '/' {
		return "", uintptr(q.vmaEnd), nil
	}
	return strings.TrimSuffix(string(text), deleted), uintptr(q.vmaEnd), nil
}
