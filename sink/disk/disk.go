// Package disk is the agent's local disk as the journal and the staging of
// parts see it: a small interface, and the real disk behind it. Tests put a
// disk in its place that forgets what wasn't synced (disk/crashdisk).
//
// A name is relative to the state directory and slash separated. Durability is
// the caller's: content is durable after Sync, a name (made, renamed, removed)
// after SyncDir of its directory, and nothing before.
package disk

import (
	"io"
	"time"
)

// File is an open file. Calls on distinct ranges may run concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	// WriteVec writes the buffers one after the other from offset on.
	WriteVec(bufs [][]byte, offset int64) error
	// Allocate makes room for size bytes from the file's start, so that a later
	// write within them can't fail for want of space. It extends the file with
	// zeros.
	Allocate(size int64) error
	Truncate(size int64) error
	// Sync makes the content and the length durable (fdatasync). After an
	// error nothing written since the last good Sync can be trusted.
	Sync() error
	// Writeback asks the disk to begin writing the range without waiting, so
	// that a later Sync finds little to do. It promises nothing.
	Writeback(offset, length int64)
	Size() (int64, error)
	Close() error
}

// Identity tells a directory from a copy of it.
type Identity struct {
	Inode uint64
	Birth time.Time
}

// Disk is a directory tree. It is safe for concurrent use.
type Disk interface {
	// Create makes a file that must not exist (fs.ErrExist) and opens it.
	Create(name string) (File, error)
	// Open opens an existing file for reading and writing (fs.ErrNotExist).
	Open(name string) (File, error)
	Remove(name string) error
	// Rename replaces to if it exists.
	Rename(from, to string) error
	// Mkdir makes one directory; one that exists is no error.
	Mkdir(name string) error
	// List returns the names in a directory, sorted.
	List(name string) ([]string, error)
	SyncDir(name string) error
	// Free is the number of bytes that can still be written.
	Free() (int64, error)
	// Identity identifies the root directory.
	Identity() (Identity, error)
	// Lock takes the root directory's exclusive lock, which lasts until the
	// Closer is closed or the process dies. owner is written into the lock for
	// whoever comes second; held by another, the error is a *LockedError.
	Lock(owner string) (io.Closer, error)
}

// LockedError says who has the state directory.
type LockedError struct {
	Dir   string
	Owner string // what the holder wrote, "" if unreadable
}

func (e *LockedError) Error() string {
	return "state directory " + e.Dir + " is in use by " + e.Owner
}
