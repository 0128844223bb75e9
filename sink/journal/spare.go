package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// maxSpares is how many segments to come are kept: the next one, and one more
// so that a dead segment isn't removed to be made anew.
const maxSpares = 2

const sparePrefix = "spare-"

func isSpare(name string) bool { return strings.HasPrefix(name, sparePrefix) }

func (j *Journal) spareName() string {
	return fmt.Sprintf("%s/%s%d", Dir, sparePrefix, j.spareNumber.Add(1))
}

// prepare is the goroutine that makes spares ahead of need, so that beginning
// a segment neither waits for allocation nor fails for want of space. It ends
// when the journal closes.
func (j *Journal) prepare() {
	defer j.done.Done()
	defer j.noMoreSpares()
	for range j.prep {
		j.mu.Lock()
		closing, have := j.refuse != nil, len(j.spares)
		j.mu.Unlock()
		if closing {
			return
		}
		if have == 0 {
			j.prepared(j.makeSpare(j.segmentSize))
		}
	}
}

// noMoreSpares ends the wait for a spare. A panic ends the making of spares
// only: chunks are then refused, and the accepted work is finished.
func (j *Journal) noMoreSpares() {
	p := recover()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spareEnd, j.spareErr = true, ErrClosed
	if p != nil {
		j.spareErr = fmt.Errorf("%w: making a spare panicked: %v", ErrBroken, p)
		j.log.Error("bug: the journal makes no more segments; please report this", "panic", fmt.Sprint(p))
	}
	j.spareTried.Broadcast()
}

// prepared notes how an attempt to make a spare ended.
func (j *Journal) prepared(name string, err error) {
	j.mu.Lock()
	unneeded := err == nil && len(j.spares) >= maxSpares
	if err == nil && !unneeded {
		j.spares = append(j.spares, name)
	}
	j.spareErr = err
	j.spareTries++
	j.spareTried.Broadcast()
	j.mu.Unlock()
	if unneeded {
		j.discard(name)
	}
}

// awaitSpare waits until there is a spare, or one more attempt to make it has
// failed.
func (j *Journal) awaitSpare() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	tries := j.spareTries
	for len(j.spares) == 0 && j.spareTries == tries && !j.spareEnd {
		signal(j.prep)
		j.spareTried.Wait()
	}
	if len(j.spares) > 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNoSpare, j.spareErr)
}

// makeSpare creates and allocates a file for a segment to come. Its space is
// durable, its name need not be.
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

// adoptSpares takes the spares that the last process left, since on a full disk
// no other can be made. What isn't one any more is removed.
func (j *Journal) adoptSpares(names []string, segments []found) {
	for _, name := range names {
		n, err := strconv.ParseUint(strings.TrimPrefix(name, Dir+"/"+sparePrefix), 10, 64)
		if err == nil {
			j.spareNumber.Store(max(j.spareNumber.Load(), n))
		}
	}
	for _, name := range names {
		if len(j.spares) < maxSpares && j.isSpare(name, segments) {
			j.spares = append(j.spares, name)
		} else {
			j.discard(name)
		}
	}
}

// isSpare reports whether the file can be used as a spare: it has all of its
// space, and no segment is the same file. A crash between the two halves of a
// rename may leave it under both names on a file system that keeps no journal.
func (j *Journal) isSpare(name string, segments []found) bool {
	f, err := j.disk.Open(name)
	if err != nil {
		return false
	}
	var start [headerSize]byte
	size, err := f.Size()
	whole := err == nil && size == j.segmentSize && f.Allocate(size) == nil && f.Sync() == nil
	readStart(f, start[:])
	same := slices.ContainsFunc(segments, func(s found) bool { return s.start == start && start != [headerSize]byte{} })
	return f.Close() == nil && whole && !same
}

// openSpare takes a file for a segment with a snapshot of the given size and,
// at first, a request. Usually that is a spare, or made like one. What is too
// large for it, or would leave little room behind the snapshot, gets a larger
// file, made for it.
func (j *Journal) openSpare(snapshot, request int64) (seg *segment, name string, err error) {
	least := 2*headerSize + snapshot + request
	size := j.segmentSize
	if least > size || snapshot > size/2 {
		size = 2*headerSize + snapshot + max(request, j.segmentSize)
		name, err = j.makeSpare(size)
		if err != nil && least <= j.segmentSize {
			size, err = j.segmentSize, nil
		}
	}
	if err == nil && name == "" {
		name, err = j.takeSpare()
	}
	if err != nil {
		return nil, "", err
	}
	f, err := j.disk.Open(name)
	if err != nil {
		j.discard(name)
		return nil, "", err
	}
	return &segment{file: f, size: size}, name, nil
}

// takeSpare takes the newest spare, or makes one.
func (j *Journal) takeSpare() (string, error) {
	j.mu.Lock()
	if n := len(j.spares); n > 0 {
		name := j.spares[n-1]
		j.spares = j.spares[:n-1]
		j.mu.Unlock()
		return name, nil
	}
	j.mu.Unlock()
	return j.makeSpare(j.segmentSize)
}

// discard removes files that are of no use. What can't be removed now, the next
// start removes.
func (j *Journal) discard(names ...string) {
	for _, name := range names {
		if err := j.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			j.log.Warn("journal: a file of no use can't be removed; the next start tries again",
				"file", name, "error", err)
		}
	}
}
