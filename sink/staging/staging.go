// Package staging owns the staged files: parts as they lie in the state
// directory, from their first byte until they are published.
//
// A File is written by one goroutine. Once MakeDurable answered nil it never
// changes, and what a Source reads of it is compared with the length and the
// checksum that the journal remembers: nobody gets a file whole that isn't what
// was journaled. Staging never removes a file that a pending part names unless
// it is told to, and never decides what to do about a wrong one.
//
// Area, File and Source are each for one goroutine at a time, except that an
// Area may be used by many.
package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

const (
	// dir holds the staged files in the state directory. It holds nothing but
	// this instance's files.
	dir = "staged"
	// asideDir receives staged files that aren't what was journaled.
	asideDir = "aside"
)

// Area is the staged files of one instance.
type Area struct {
	fence    fence
	disk     disk.Disk // behind the fence
	stateDir string    // in texts
	log      *slog.Logger
	bytes    atomic.Int64
}

// New returns the staging area on the state directory's disk. stateDir names
// the directory in texts.
func New(d disk.Disk, stateDir string, log *slog.Logger) *Area {
	a := &Area{stateDir: stateDir, log: log}
	a.disk = disk.Guard(d, a.fence.pass, func() {})
	return a
}

// Fence lets no operation on the disk begin any more, whoever still runs: a
// successor may have the state directory by then. Those under way go on, and
// closing a file always works.
func (a *Area) Fence() { a.fence.close() }

// Bytes is what staged files take, those not written yet included.
func (a *Area) Bytes() int64 { return a.bytes.Load() }

// Staged is a staged file as the journal remembers it.
type Staged struct {
	Name   string // relative to the state directory
	Length int64
	CRC    uint32 // CRC-32C of the content
}

// Recover makes the area ready: the files of pending parts are counted, and
// those that no pending part names are removed, since their records are owed.
func (a *Area) Recover(pending []Staged) error {
	if err := errors.Join(a.disk.Mkdir(dir), a.disk.SyncDir(".")); err != nil {
		return fmt.Errorf("make the staging directory: %w", err)
	}
	keep := map[string]bool{}
	for _, s := range pending {
		keep[s.Name] = true
		a.bytes.Add(s.Length)
	}
	names, err := a.disk.List(dir)
	if err != nil {
		return fmt.Errorf("list the staging directory: %w", err)
	}
	for _, n := range names {
		name := path.Join(dir, n)
		if keep[name] || strings.Trim(n, "0123456789") != "" {
			continue
		}
		if err := a.disk.Remove(name); err != nil {
			return fmt.Errorf("remove an unfinished part's staged file: %w", err)
		}
	}
	return nil
}

// Create creates the staged file of an in-progress part.
func (a *Area) Create(number uint64) (*File, error) {
	name := fmt.Sprintf("%s/%d", dir, number)
	f, err := a.disk.Create(name)
	if err != nil {
		return nil, fmt.Errorf("create staged file: %w", err)
	}
	return &File{area: a, name: name, file: f}, nil
}

// Drop closes and removes a staged file that is of no use. What can't be
// removed now, the next start removes.
func (a *Area) Drop(f *File) {
	_ = f.file.Close()
	a.Remove(f.name, f.Size())
}

// Remove removes a staged file of that many bytes. What can't be removed now,
// the next start removes.
func (a *Area) Remove(name string, size int64) {
	a.bytes.Add(-size)
	a.shrink(name, size)
	if err := a.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrFenced) {
		a.log.Warn("a staged file can't be removed; the next start tries again",
			"file", a.stateDir+"/"+name, "error", err)
	}
}

// shrinkStep is how much of a staged file is given back at a time.
const shrinkStep = 4 << 20

// shrink gives back the space of a large file that is about to be removed. To
// remove it at once takes the file system a tenth of a second, longer where it
// discards what is freed, and a flush that syncs the journal waits for that.
func (a *Area) shrink(name string, size int64) {
	if size <= shrinkStep {
		return
	}
	f, err := a.disk.Open(name)
	if err != nil {
		return // the removal says why
	}
	for size -= shrinkStep; size > 0 && err == nil; size -= shrinkStep {
		err = f.Truncate(size)
	}
	_ = f.Close()
}

// SetAside moves the wrong staged file of a part out of the way, and answers
// where it is then: where it was, if it is missing there and wasn't set aside
// before.
func (a *Area) SetAside(name string, part uint64) (string, error) {
	aside := fmt.Sprintf("%s/%d", asideDir, part)
	err := errors.Join(a.disk.Mkdir(asideDir), a.disk.Rename(name, aside))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if f, err := a.disk.Open(aside); err == nil {
			return a.stateDir + "/" + aside, f.Close()
		}
		return a.stateDir + "/" + name, nil
	case err != nil:
		return "", fmt.Errorf("set a damaged staged file aside: %w", err)
	}
	return a.stateDir + "/" + aside, nil
}
