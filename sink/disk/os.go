package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockName holds the flock and, for whoever comes second, the owner's name.
const lockName = "lock"

// OS is the real disk below one directory.
type OS struct{ root string }

var _ Disk = (*OS)(nil)

// NewOS is the disk below root, which must exist.
func NewOS(root string) (*OS, error) {
	st, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("state directory %s: %w", root, unix.ENOTDIR)
	}
	return &OS{root: root}, nil
}

func (d *OS) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// Create implements Disk.
func (d *OS) Create(name string) (File, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

// Open implements Disk.
func (d *OS) Open(name string) (File, error) { return d.open(name, os.O_RDWR) }

func (d *OS) open(name string, flags int) (File, error) {
	f, err := os.OpenFile(d.path(name), flags, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Remove implements Disk.
func (d *OS) Remove(name string) error { return os.Remove(d.path(name)) }

// Rename implements Disk.
func (d *OS) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

// Mkdir implements Disk.
func (d *OS) Mkdir(name string) error {
	err := os.Mkdir(d.path(name), 0o700)
	if errors.Is(err, fs.ErrExist) {
		if st, statErr := os.Stat(d.path(name)); statErr == nil && st.IsDir() {
			return nil
		}
	}
	return err
}

// List implements Disk.
func (d *OS) List(name string) ([]string, error) {
	f, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// SyncDir implements Disk. Where the file system knows no fsync of a directory,
// as some FUSE and CIFS mounts do, there is nothing to sync.
func (d *OS) SyncDir(name string) error {
	f, err := os.Open(d.path(name))
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Identity implements Disk. Birth is the zero time where the file system keeps
// none.
func (d *OS) Identity() (Identity, error) {
	id, err := identity(unix.AT_FDCWD, d.root, 0)
	if err != nil {
		return Identity{}, &fs.PathError{Op: "statx", Path: d.root, Err: err}
	}
	return id, nil
}

// IdentityOf identifies the directory that a descriptor is open on.
func IdentityOf(fd int) (Identity, error) { return identity(fd, "", unix.AT_EMPTY_PATH) }

func identity(at int, path string, flags int) (Identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(at, path, flags, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return Identity{}, err
	}
	id := Identity{Inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Birth = time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
	}
	return id, nil
}

// Lock implements Disk with flock, which ends with the process whatever
// happens to it.
func (d *OS) Lock(owner string) (io.Closer, error) {
	f, err := os.OpenFile(d.path(lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = flock(f)
	if errors.Is(err, unix.EWOULDBLOCK) {
		holder := readOwner(f)
		return nil, errors.Join(&LockedError{Dir: d.root, Owner: holder, By: owner}, f.Close())
	}
	if err == nil {
		err = writeOwner(f, owner)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EINTR):
			return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

// writeOwner writes the name before it cuts what is behind it, so that who
// reads the first line meanwhile never finds it empty.
func writeOwner(f *os.File, owner string) error {
	line := owner + "\n"
	if _, err := f.WriteAt([]byte(line), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(line)))
}

// readOwner is the first line of the lock.
func readOwner(f *os.File) string {
	const longest = 4096
	b := make([]byte, longest)
	n, _ := f.ReadAt(b, 0)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	return strings.TrimSpace(line)
}

type osFile struct{ *os.File }

// OSFile lets a file system driver have the kernel copy the content.
func (f osFile) OSFile() *os.File { return f.File }

// maxVec is Linux's IOV_MAX.
const maxVec = 1024

func (f osFile) WriteVec(bufs [][]byte, offset int64) error {
	// Without its leading empty buffers a write that answers 0 has failed.
	bufs = advance(slices.Clone(bufs), 0)
	for len(bufs) > 0 {
		n, err := unix.Pwritev(int(f.Fd()), bufs[:min(len(bufs), maxVec)], offset)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return &fs.PathError{Op: "pwritev", Path: f.Name(), Err: err}
		}
		offset += int64(n)
		bufs = advance(bufs, n)
	}
	return nil
}

// advance drops the first n bytes and the buffers that are then empty.
func advance(bufs [][]byte, n int) [][]byte {
	for len(bufs) > 0 && n >= len(bufs[0]) {
		n -= len(bufs[0])
		bufs = bufs[1:]
	}
	if n > 0 {
		bufs[0] = bufs[0][n:]
	}
	return bufs
}

func (f osFile) Allocate(size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return f.allocateByWriting(size)
		default:
			return &fs.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
	}
}

// allocateByWriting serves file systems without fallocate.
func (f osFile) allocateByWriting(size int64) error {
	at, err := f.Size()
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for at < size {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

func (f osFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

func (f osFile) Writeback(offset, length int64) error {
	err := unix.SyncFileRange(int(f.Fd()), offset, length, unix.SYNC_FILE_RANGE_WRITE)
	switch err {
	case nil, unix.EINTR, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.ESPIPE: // done, or not to be had here
		return nil
	}
	return &fs.PathError{Op: "sync_file_range", Path: f.Name(), Err: err}
}

func (f osFile) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}
