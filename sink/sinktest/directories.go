package sinktest

import (
	"path"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// Directories look into chunk files' directories as chunkfile.Directories do. To
// them all are one directory.
type Directories struct {
	Exists func(path string) bool
	// Sync answers the paths of all chunk files that exist, and whether the
	// directories could be synced then.
	Sync func() (paths []string, durable bool)
}

var home = disk.Identity{Inode: 1, Birth: time.Unix(1_600_000_000, 0)}

// Locate implements intake.Directories.
func (d Directories) Locate(f chunkfile.File) disk.Identity {
	if !d.Exists(f.Path()) {
		return disk.Identity{}
	}
	return home
}

// List implements intake.Directories.
func (d Directories) List(dir string) (chunkfile.Listing, error) {
	paths, durable := d.Sync()
	out := chunkfile.Listing{ID: home, Durable: durable}
	for _, p := range paths {
		if path.Dir(p) == dir {
			out.Names = append(out.Names, path.Base(p))
		}
	}
	return out, nil
}
