// Package disk is the agent's local disk as the journal and the staging of
// parts see it: a small interface, and the real disk behind it. Tests put a
// disk in its place that forgets what wasn't synced (disk/crashdisk).
//
// A name is relative to the state directory and slash separated. Durability is
// the caller's: content is durable after Sync, a name (made, renamed, removed)
// after SyncDir of its directory, and nothing before.
package disk

import (
	"fmt"
	"io"
	"time"
)

// File is an open file. Calls on distinct ranges may run concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	// ReadDirect is ReadAt from the disk itself: not from what the kernel remembers
	// of the range, and forgets then. Where that can't be had it is ReadAt.
	ReadDirect(b []byte, offset int64) (int, error)
	// WriteVec writes the buffers one after the other from offset on. Any number
	// of buffers is fine, empty ones among them. After an error any part of them
	// may have been written.
	WriteVec(bufs [][]byte, offset int64) error
	// Allocate makes room for size bytes from the file's start, so that a later
	// write within them can't fail for want of space. It extends the file with
	// zeros, changes nothing of what is there, and never makes it shorter.
	Allocate(size int64) error
	// Truncate sets the length; a file that grows is extended with zeros.
	Truncate(size int64) error
	// Sync makes the content and the length durable (fdatasync). After an
	// error nothing written since the last good Sync can be trusted.
	Sync() error
	// Writeback asks the disk to begin writing the range without waiting, so
	// that a later Sync finds little to do. It promises nothing, but after an
	// error the range can't be trusted: no Sync need report that once more.
	Writeback(offset, length int64) error
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
	// Mkdir makes one directory; one that exists is no error, a file of that
	// name is.
	Mkdir(name string) error
	// List returns the names in a directory, sorted (fs.ErrNotExist).
	List(name string) ([]string, error)
	// SyncDir makes the names in a directory durable: made, renamed or removed.
	SyncDir(name string) error
	// Identity identifies the root directory.
	Identity() (Identity, error)
	// Lock takes the root directory's exclusive lock, which lasts until the
	// Closer is closed or the process dies. owner, one line, is written into the
	// lock for whoever comes second; held by another, the error is a
	// *LockedError.
	Lock(owner string) (io.Closer, error)
}

// LockedError says who has the state directory.
type LockedError struct {
	Dir   string
	Owner string // what the holder wrote, "" if unreadable
	By    string // who was refused
}

func (e *LockedError) Error() string {
	owner := e.Owner
	if owner == "" {
		owner = "another process"
	}
	return fmt.Sprintf("state directory %s is in use by %s, so %s can't have it: "+
		"give each hdfs output a state_dir of its own, or stop the other", e.Dir, owner, e.By)
}
