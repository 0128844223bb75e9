package disk

import (
	"errors"
	"io"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// directAlign is what O_DIRECT wants of memory, offset and length: at most a
// page, on every file system of Linux.
const directAlign = 4096

// ReadDirect implements File with a descriptor of its own, opened with O_DIRECT.
// Writes that the kernel holds back reach the disk first.
func (f osFile) ReadDirect(b []byte, offset int64) (int, error) {
	if offset < 0 {
		return f.ReadAt(b, offset) // says what is wrong with it
	}
	n, err := f.readDirect(b, offset)
	// What is remembered of the range goes, so that the next ReadAt is right too.
	_ = unix.Fadvise(int(f.Fd()), offset, int64(len(b)), unix.FADV_DONTNEED)
	if err != nil && !errors.Is(err, io.EOF) { // tmpfs and some others have no O_DIRECT
		return f.ReadAt(b, offset)
	}
	return n, err
}

func (f osFile) readDirect(b []byte, offset int64) (int, error) {
	d, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	from := offset &^ (directAlign - 1)
	size := int(offset-from) + len(b)
	buf := aligned((size + directAlign - 1) &^ (directAlign - 1))
	got := 0
	for got < size {
		n, err := unix.Pread(int(d.Fd()), buf[got:], from+int64(got))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if got += n; n%directAlign != 0 || n == 0 {
			break // the file ends there
		}
	}
	n := copy(b, buf[min(int(offset-from), got):min(size, got)])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// aligned is a buffer of n bytes at a multiple of directAlign.
func aligned(n int) []byte {
	buf := make([]byte, n+directAlign)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(buf))) & (directAlign - 1))
	return buf[skip:][:n:n]
}
