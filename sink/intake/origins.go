package intake

import (
	"context"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Directories looks into the directories of Fluent Bit's chunk files
// (chunkfile.Directories).
type Directories interface {
	Locate(chunkfile.File) disk.Identity
	List(path string) (chunkfile.Listing, error)
}

const (
	// lookEvery is how often directories are looked at that have fewFiles or more.
	lookEvery = time.Minute
	fewFiles  = 256
	// lookAllEvery is how often all of them are.
	lookAllEvery = time.Hour
)

// watchOrigins lets the journal forget chunks whose files are gone.
func (i *Intake) watchOrigins(ctx context.Context) {
	var all time.Time
	run.Every(ctx, lookEvery, func(context.Context) {
		few := time.Since(all) < lookAllEvery
		if !few {
			all = time.Now()
		}
		for _, dir := range i.Journal.OriginDirs() {
			if dir.Files < fewFiles && few {
				continue
			}
			err := i.Journal.ForgetGone(dir, func() (journal.Listed, error) {
				l, err := i.Directories.List(dir.Path)
				return journal.Listed(l), err
			})
			if err != nil {
				i.Log.Debug("a directory of chunk files can't be looked at", "directory", dir.Path, "error", err)
			}
		}
	})
}
