package log

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxSpares is how many segments to come are kept: the next one, and one more
// so that a dead segment isn't removed to be made anew.
const MaxSpares = 2

// SparePrefix begins the name of a spare.
const SparePrefix = "spare-"

// ErrNoSpare says that the segment after the current one can't be made.
var ErrNoSpare = errors.New("the disk has no room for another journal segment: make room on it, or check it")

// ErrClosed is the error of what is asked of a closed log.
var ErrClosed = errors.New("journal is closed")

// ErrBroken says that a goroutine panicked. What is durable is found by the next
// start.
var ErrBroken = errors.New("the journal stopped on a bug: restart the agent, and please report it")

func isSpare(name string) bool { return strings.HasPrefix(name, SparePrefix) }

func (l *Log) spareName() string {
	return fmt.Sprintf("%s/%s%d", Dir, SparePrefix, l.spareNumber.Add(1))
}

// prepare is the goroutine that makes spares ahead of need, so that beginning
// a segment neither waits for allocation nor fails for want of space. It ends
// when the journal closes.
func (l *Log) prepare() {
	defer l.noMoreSpares()
	for range l.prep {
		l.mu.Lock()
		closing, have := l.closing, len(l.spares)
		l.mu.Unlock()
		if closing {
			return
		}
		if have == 0 {
			l.prepared(l.makeSpare(l.segmentSize))
		}
	}
}

// noMoreSpares ends the wait for a spare. A panic ends the making of spares
// only: chunks are then refused, and the accepted work is finished.
func (l *Log) noMoreSpares() {
	p := recover()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spareEnd, l.spareErr = true, ErrClosed
	if p != nil {
		l.spareErr = fmt.Errorf("%w: making a spare panicked: %v", ErrBroken, p)
		l.log.Error("bug: the journal makes no more segments; please report this", "panic", fmt.Sprint(p))
	}
	l.spareTried.Broadcast()
}

// prepared notes how an attempt to make a spare ended.
func (l *Log) prepared(name string, err error) {
	l.mu.Lock()
	unneeded := err == nil && len(l.spares) >= MaxSpares
	if err == nil && !unneeded {
		l.spares = append(l.spares, name)
	}
	l.spareErr = err
	l.spareTries++
	l.spareTried.Broadcast()
	l.mu.Unlock()
	if unneeded {
		l.discard(name)
	}
}

// AwaitSpare waits until there is a spare, or one more attempt to make it has
// failed.
func (l *Log) AwaitSpare() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	tries := l.spareTries
	for len(l.spares) == 0 && l.spareTries == tries && !l.spareEnd {
		signal(l.prep)
		l.spareTried.Wait()
	}
	if len(l.spares) > 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNoSpare, l.spareErr)
}

// makeSpare creates and allocates a file for a segment to come. Its space is
// durable, its name need not be.
func (l *Log) makeSpare(size int64) (string, error) {
	name := l.spareName()
	f, err := l.disk.Create(name)
	if err != nil {
		return "", err
	}
	if err = f.Allocate(size); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		l.discard(name)
		return "", fmt.Errorf("allocate %d bytes for a journal segment: %w", size, err)
	}
	return name, nil
}

// AdoptSpares takes the spares that the last process left, since on a full disk
// no other can be made. What isn't one any more is removed.
func (l *Log) AdoptSpares(names []string, segments []Found) {
	for _, name := range names {
		n, err := strconv.ParseUint(strings.TrimPrefix(name, Dir+"/"+SparePrefix), 10, 64)
		if err == nil {
			l.spareNumber.Store(max(l.spareNumber.Load(), n))
		}
	}
	for _, name := range names {
		if len(l.spares) < MaxSpares && l.isSpare(name, segments) {
			l.spares = append(l.spares, name)
		} else {
			l.discard(name)
		}
	}
}

// isSpare reports whether the file can be used as a spare: it has all of its
// space, and no segment is the same file. A crash between the two halves of a
// rename may leave it under both names on a file system that keeps no journal.
func (l *Log) isSpare(name string, segments []Found) bool {
	f, err := l.disk.Open(name)
	if err != nil {
		return false
	}
	var start [HeaderSize]byte
	size, err := f.Size()
	whole := err == nil && size == l.segmentSize && f.Allocate(size) == nil && f.Sync() == nil
	readStart(f, start[:])
	same := slices.ContainsFunc(segments, func(s Found) bool { return s.start == start && start != [HeaderSize]byte{} })
	return f.Close() == nil && whole && !same
}

// openSpare takes a file for a segment with a snapshot of the given size and,
// at first, a request. Usually that is a spare, or made like one. What is too
// large for it, or would leave little room behind the snapshot, gets a larger
// file, made for it.
func (l *Log) openSpare(snapshot, request int64) (seg *segment, name string, err error) {
	least := 2*HeaderSize + snapshot + request
	size := l.segmentSize
	if least > size || snapshot > size/2 {
		size = 2*HeaderSize + snapshot + max(request, l.segmentSize)
		name, err = l.makeSpare(size)
		if err != nil && least <= l.segmentSize {
			size, err = l.segmentSize, nil
		}
	}
	if err == nil && name == "" {
		name, err = l.takeSpare()
	}
	if err != nil {
		return nil, "", err
	}
	f, err := l.disk.Open(name)
	if err != nil {
		l.discard(name)
		return nil, "", err
	}
	return &segment{file: f, size: size}, name, nil
}

// HasSpare reports whether the next segment is there.
func (l *Log) HasSpare() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.spares) > 0
}

// takeSpare takes the newest spare, or makes one.
func (l *Log) takeSpare() (string, error) {
	l.mu.Lock()
	if n := len(l.spares); n > 0 {
		name := l.spares[n-1]
		l.spares = l.spares[:n-1]
		l.mu.Unlock()
		return name, nil
	}
	l.mu.Unlock()
	return l.makeSpare(l.segmentSize)
}
