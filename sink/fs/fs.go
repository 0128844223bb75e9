// Package fs is the seam between the sink and the file systems it publishes
// to: the FileSystem interface, the meaning of its errors, the registry of
// drivers by scheme, and the limits on them.
//
// Paths are absolute, slash separated and without scheme or authority: the
// FileSystem was opened for those. A driver never retries on its own, never
// replaces an existing file, and never touches a path it wasn't given.
package fs

import (
	"context"
	"io"
	"time"
)

// FileID identifies a file through renames. It is opaque, comparable, and
// stable over restarts of both sides; "" means that the driver can't tell.
type FileID string

// Info describes a file or directory.
type Info struct {
	Path   string
	ID     FileID
	Length int64
	// ModTime has the precision that the driver can read back unchanged.
	ModTime time.Time
	Dir     bool
	// Closed is false for a file that a writer still holds, where the file
	// system knows (HDFS's isFileClosed).
	Closed bool
}

// Same reports whether o describes the very file, unchanged: same identity,
// length and modification time, and closed.
func (i Info) Same(o Info) bool {
	return i.ID == o.ID && i.Length == o.Length && i.ModTime.Equal(o.ModTime) && i.Closed && o.Closed
}

// PutOptions says how a file and its missing parents are made. A zero value
// means the file system's own default.
type PutOptions struct {
	FileMode    uint32 // permission bits
	DirMode     uint32 // permission bits of parents made on the way
	Replication int
	BlockSize   int64
}

// Source is the content of a Put, read once from 0 to Size by ReadAt. If it
// also has a method OSFile() *os.File, a driver may let the kernel copy.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Viewer is the read-only side of a FileSystem that a verdict rests on.
type Viewer interface {
	// Stat describes what is at path. Class Missing if there is nothing.
	Stat(ctx context.Context, path string) (Info, error)
	// Find describes the file with the identity wherever it is now, with Path
	// as its name alone if the driver can't tell in which directory, and "" if
	// it knows no more than that the file exists. Class Missing if
	// there is none, Unsupported if the driver can't look up by identity.
	Find(ctx context.Context, id FileID) (Info, error)
}

// FileSystem is one target. All methods are safe for concurrent use, give up
// when ctx ends, and answer with errors whose Class tells what to do.
type FileSystem interface {
	Viewer

	// Put creates temp exclusively (Class Exists if there is anything), with
	// missing parents, and writes all of src. On nil the whole file is closed
	// and durable, as far as the file system promises that. After an error
	// anything may be at temp, nothing or a part or the whole, unless the error
	// is of Class Exists, which leaves what was there untouched.
	Put(ctx context.Context, src Source, temp string, o PutOptions) (Info, error)

	// Rename moves the file from to to, which must not exist: Class Exists if
	// it does, decided by the file system itself and not by a look before.
	// Class Missing if from doesn't exist. On nil the move is durable, as are
	// to's parents, which Rename makes if missing. After Class Unclear it may
	// have happened or may still happen.
	Rename(ctx context.Context, from, to string, o PutOptions) error

	// Settle calls view with a Viewer whose answers are those of the file
	// system's own authoritative and current state, so that what it says is
	// missing is missing: on HDFS between two acknowledged edits on one
	// connection. dir is a directory in which a driver may put its marker
	// file, which it removes. An error of the bracket makes view's answer
	// worthless; Settle returns the first error of bracket or view.
	Settle(ctx context.Context, dir string, view func(ctx context.Context, v Viewer) error) error

	// Remove deletes one file. Class Missing if there was nothing at path,
	// which callers usually take for success. It never deletes a directory.
	Remove(ctx context.Context, path string) error

	MkdirAll(ctx context.Context, path string, mode uint32) error
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	// List describes the entries of a directory, in name order.
	List(ctx context.Context, path string) ([]Info, error)

	// Close releases what the FileSystem holds. Later calls fail.
	Close() error
}
