package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// prepare is the goroutine that makes spares ahead of need, so that beginning
// a segment neither waits for allocation nor fails for want of space. It ends
// when the journal closes.
func (j *Journal) prepare() {
	defer j.done.Done()
	for range j.prep {
		j.mu.Lock()
		closing, have := j.closing, len(j.spares)
		j.mu.Unlock()
		if closing {
			j.prepared("", ErrClosed)
			return
		}
		if have == 0 {
			j.prepared(j.makeSpare(j.segmentSize))
		}
	}
}

// prepared notes how an attempt to make a spare ended.
func (j *Journal) prepared(name string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spareErr = err
	if err == nil {
		j.spares[name] = j.segmentSize
	}
	j.spareTries++
	j.spareTried.Broadcast()
}

// awaitSpare waits until there is a spare or one more attempt to make it has
// failed.
func (j *Journal) awaitSpare() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	tries := j.spareTries
	signal(j.prep)
	for len(j.spares) == 0 && j.spareTries == tries && !errors.Is(j.spareErr, ErrClosed) {
		j.spareTried.Wait()
	}
	if len(j.spares) > 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNoSpare, j.spareErr)
}

func (j *Journal) spareName() string {
	return fmt.Sprintf("%s/%s%d", Dir, sparePrefix, j.nextSpare.Add(1))
}

// makeSpare creates and allocates a spare. Its space is durable, its name need
// not be.
func (j *Journal) makeSpare(size int64) (string, error) {
	name := j.spareName()
	f, err := j.disk.Create(name)
	if err != nil {
		return "", err
	}
	if err = f.Allocate(size); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		j.discard(name)
		return "", fmt.Errorf("allocate %d bytes for a journal segment: %w", size, err)
	}
	return name, nil
}

// openSpare takes a spare of at least the given size, making one if there is
// none.
func (j *Journal) openSpare(id uint64, size int64) (*segment, string, error) {
	j.mu.Lock()
	name := ""
	for _, n := range slices.Sorted(maps.Keys(j.spares)) {
		if name == "" || j.spares[n] > j.spares[name] {
			name = n
		}
	}
	have := j.spares[name]
	delete(j.spares, name)
	j.mu.Unlock()
	if name == "" {
		var err error
		if name, err = j.makeSpare(size); err != nil {
			return nil, "", err
		}
		have = size
	}
	f, err := j.disk.Open(name)
	if err != nil {
		return nil, "", err
	}
	if have < size {
		if err := f.Allocate(size); err != nil {
			_ = f.Close()
			j.discard(name)
			return nil, "", fmt.Errorf("allocate %d bytes for a journal segment: %w", size, err)
		}
		have = size
	}
	return &segment{id: id, file: f, size: have}, name, nil
}

// discard removes files that are of no use after a failure. What can't be
// removed now, the next start removes.
func (j *Journal) discard(names ...string) {
	for _, name := range names {
		if err := j.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			j.log.Warn("journal: a file of no use can't be removed; the next start tries again",
				"file", name, "error", err)
		}
	}
}

func isSpare(name string) bool { return strings.HasPrefix(name, sparePrefix) }
