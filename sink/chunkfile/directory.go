package chunkfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// Directories looks into the directories of chunk files. Each answer comes from
// one descriptor, so that it is of one directory, whatever is mounted, moved or
// made at its path meanwhile. It is safe for concurrent use.
type Directories struct{}

// Locate is the directory at the file's path, if the file is in it now. The
// zero Identity means that this can't be known.
func (Directories) Locate(f File) disk.Identity {
	dir, err := open(filepath.Dir(f.Path()))
	if err != nil {
		return disk.Identity{}
	}
	defer unix.Close(dir)
	id, err := disk.IdentityOf(dir)
	if err != nil || unix.Faccessat(dir, f.Name, unix.F_OK, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return disk.Identity{}
	}
	return id
}

// Listing is what a directory held.
type Listing struct {
	ID    disk.Identity
	Names []string
	// Durable is true if what isn't among the names doesn't come back with a
	// power loss: the directory was synced after it was read.
	Durable bool
}

// List lists a directory, and syncs it.
func (Directories) List(path string) (Listing, error) {
	fd, err := open(path)
	if err != nil {
		return Listing{}, err
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	id, err := disk.IdentityOf(fd)
	if err != nil {
		return Listing{}, fmt.Errorf("identify %s: %w", path, err)
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return Listing{}, fmt.Errorf("list %s: %w", path, err)
	}
	return Listing{ID: id, Names: names, Durable: dir.Sync() == nil}, nil
}

func open(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			if err != nil {
				err = &os.PathError{Op: "open", Path: path, Err: err}
			}
			return fd, err
		}
	}
}
