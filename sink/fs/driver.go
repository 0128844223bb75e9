// Package fs is the seam between the sink and the file systems to which it
// publishes: the Client that the sink uses, the narrow Driver below it, the
// meaning of errors, and the Registry that opens drivers by scheme and shares
// them.
//
// What every target has in common is in Client, once: who shares a connection,
// how many uploads run at a time, and that nothing begins after the sink has
// ended. What differs is in the drivers.
//
// Paths are absolute, slash separated and without scheme or authority: a driver
// was opened for those. A driver never retries on its own, never replaces an
// existing file, and never touches a path it wasn't given.
package fs

import (
	"context"
	"errors"
	"io"
	"path"
	"time"
)

// FileID identifies a file through renames. It is opaque, comparable, and
// stable over restarts of both sides; "" means that the driver can't tell.
type FileID string

// Info describes a file or directory.
type Info struct {
	Path   string
	ID     FileID
	Length int64 // bytes; 0 for a directory
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

// UploadOptions say how a file and its missing parents are made. A zero value
// means the file system's own default.
type UploadOptions struct {
	FileMode    uint32 // permission bits
	DirMode     uint32 // permission bits of parents made on the way
	Replication int
	BlockSize   int64 // bytes
}

// PublishOptions say how missing parents of the final name are made.
type PublishOptions struct {
	DirMode uint32 // permission bits; 0 means the file system's own default
}

// Driver is one target as its driver knows it. All methods are safe for
// concurrent use, give up when ctx ends, and answer with errors whose Class
// tells what to do.
//
// The verbs say what is wanted and not how: HDFS and local disks publish by a
// rename, a store without rename could do so by completing an upload.
type Driver interface {
	// Upload creates the file hidden exclusively (Class Exists if there is
	// anything), with missing parents, and writes all of src. On nil the whole
	// file is closed and durable, as far as the file system promises that, and
	// described by the answer. After an error anything may be at hidden, nothing
	// or a part or the whole, unless the error is of Class Exists, which leaves
	// what was there untouched.
	Upload(ctx context.Context, src Source, hidden string, o UploadOptions) (Info, error)
	// Publish gives the file that Upload described as from the name final, under
	// which there must be nothing: Class Exists if there is, decided by the file
	// system itself and not by a look before. Class Missing if the file isn't
	// under from.Path, or another is. On nil the new name is durable, as are its
	// parents, which Publish makes if missing. After Class Unclear it may have
	// happened or may still happen.
	Publish(ctx context.Context, from Info, final string, o PublishOptions) error
	// Stat describes what is at path. Class Missing if there is nothing.
	Stat(ctx context.Context, path string) (Info, error)
	// Locate says what is under each of the names, of which there is at least
	// one, and where else the file with the identity is if it is under none of
	// them. The answer is the file system's own authoritative and current state,
	// so that what it says is missing is missing: on HDFS everything was asked
	// between two acknowledged edits on one connection. For those a driver may
	// put a marker file into the directory of the first name, which it removes.
	// With an error there is no answer.
	Locate(ctx context.Context, id FileID, names ...string) (Place, error)
	// Open opens a file for reading. Class Missing if there is nothing, Path if
	// it is a directory. Reads end with ctx and fail with classified errors, too;
	// the caller closes the reader. A file that changes meanwhile may be read as a
	// mixture.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	// Discard deletes one file. Class Missing if there was nothing at hidden,
	// which callers usually take for success. It never deletes a directory.
	Discard(ctx context.Context, hidden string) error
	// Close releases what the Driver holds. Later calls fail.
	Close() error
}

// Place is Locate's answer.
type Place struct {
	// Names says what is under each name asked for, in their order.
	Names []Entry
	// Searched is true if the whole file system was searched for the file. It
	// is false if the file is under one of the names, if the identity is "", and
	// if the driver can't search: then it can't be told whether the file is
	// elsewhere.
	Searched bool
	// Elsewhere is what the search found. Its Path is the file's name alone if
	// the driver can't tell in which directory, and "" if it knows no more than
	// that the file exists; its Length is -1 if the file may not be looked at.
	Elsewhere Entry
}

// Entry is what is at a place: Info describes it if there is anything.
type Entry struct {
	Exists bool
	Info   Info
}

// Reader shows what is on a target. Sinks list nothing: it is for operators'
// commands and for tests. Drivers offer it beside their own methods.
type Reader interface {
	// List describes the entries of a directory, in name order. Class Missing
	// if there is nothing, Path if it is a file.
	List(ctx context.Context, path string) ([]Info, error)
	// Open is Driver's.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
}

// LookUp builds a Place for a driver's Locate from its own look-ups: stat
// answers as Stat does, and search as Place.Elsewhere says, with Class Missing
// if there is no such file and Class Unsupported if the driver can't search.
func LookUp(id FileID, names []string, stat func(name string) (Info, error), search func(id FileID) (Info, error)) (Place, error) {
	var p Place
	found := id == ""
	for _, name := range names {
		e, err := entry(stat(name))
		if err != nil {
			return Place{}, err
		}
		found = found || e.Exists && e.Info.ID == id
		p.Names = append(p.Names, e)
	}
	if found {
		return p, nil
	}
	e, err := entry(search(id))
	if err != nil && ClassOf(err) == Unsupported {
		return p, nil
	}
	if err != nil {
		return Place{}, err
	}
	p.Searched, p.Elsewhere = true, e
	return p, nil
}

func entry(info Info, err error) (Entry, error) {
	switch {
	case err == nil:
		return Entry{Exists: true, Info: info}, nil
	case ClassOf(err) == Missing:
		return Entry{}, nil
	}
	return Entry{}, err
}

// CheckNames is nil for names that Locate takes, each as CheckPath says. Drivers
// call it first. It returns the directory of the first name.
func CheckNames(names []string) (dir string, err error) {
	if len(names) == 0 {
		return "", &Error{Op: "locate", Class: Path, Err: errors.New("no name to look under")}
	}
	for _, name := range names {
		if err := CheckPath("locate", name); err != nil {
			return "", err
		}
	}
	return path.Dir(names[0]), nil
}
