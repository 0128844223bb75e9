package journal

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// DefaultSegmentSize is what a segment is allocated with.
const DefaultSegmentSize = 64 << 20

// Options configure a Journal.
type Options struct {
	Disk disk.Disk
	Log  *slog.Logger
	// Owner names the process to whoever finds the directory locked.
	Owner string
	// WriterID is what the state remembers as the instance's name; "" leaves
	// what it remembers, and a new state takes DefaultWriterID of its id.
	WriterID        string
	DefaultWriterID func(state [16]byte) string
	// SegmentSize is DefaultSegmentSize if 0.
	SegmentSize int64
	// Adopt accepts a state directory that was moved or restored.
	Adopt bool
	// Tool is set by operators' tools, which decode nothing: what the last
	// process was decoding when it died isn't counted as a death.
	Tool bool
}

// ErrClosed is the error of an append to a closed journal.
var ErrClosed = errors.New("journal is closed")

// ErrNoSpare refuses a chunk because the segment after the current one, which
// finishing the accepted work may need, can't be made.
var ErrNoSpare = errors.New("the disk has no room for another journal segment: make room on it, or check it")

// ErrBroken is the error of every append after the writer panicked. The next
// Open goes on from what is durable.
var ErrBroken = errors.New("the journal stopped on a bug: restart the agent, and please report it")

// Journal is the open journal of one instance.
type Journal struct {
	disk        disk.Disk
	log         *slog.Logger
	segmentSize int64
	lock        io.Closer // nil for Inspect's
	opened      time.Time
	baseRunning time.Duration // st.running when opened

	wake chan struct{} // capacity 1: the queue isn't empty, or closing
	prep chan struct{} // capacity 1: a spare is wanted, or closing
	done sync.WaitGroup
	end  sync.Once
	// endErr is what closing the files answered; guarded by end.
	endErr error

	spareNumber atomic.Uint64 // of the last spare

	mu       sync.Mutex
	st       *state
	queue    []*request
	inflight map[originKey]*request
	refuse   error                  // of further appends: ErrClosed or ErrBroken
	released bool                   // the directory may be another's
	segments map[uint64]segmentInfo // on the disk
	spares   []string               // of segmentSize each, the last one made last
	// spareErr is why the last spare could not be made; spareTries counts the
	// attempts, and spareTried, on mu, tells of each, and of a spare had otherwise.
	spareErr   error
	spareTries int
	spareEnd   bool // no spare will be made any more
	spareTried *sync.Cond

	// The writer goroutine's own.
	cur          *segment
	nextID       uint64
	batch        []*request // taken and not all answered
	snapshotSize int        // of the last one
	moving       []move
	moveBuf      []byte
	unread       map[location]bool // live frames that can't be read, reported once
	stuck        map[uint64]bool   // segments of which nothing else is live
}

// segmentInfo is what is known of a segment on the disk.
type segmentInfo struct {
	size int64
	room int64 // for frames behind the snapshot
	salt uint64
}

// request is a caller waiting for its entries to be synced.
type request struct {
	entries []*entry
	size    int64
	chunk   bool
	done    chan error // capacity 1
	// answered is the writer goroutine's own.
	answered bool
}

func newRequest() *request { return &request{done: make(chan error, 1)} }

func (r *request) add(e *entry) {
	r.entries = append(r.entries, e)
	r.size += frameSize(e.payloadLen())
}

// wait may be called by any number of goroutines, each of which gets the
// answer.
func (r *request) wait() error {
	err := <-r.done
	r.done <- err
	return err
}

func (r *request) answer(err error) {
	if !r.answered {
		r.answered = true
		r.done <- err
	}
}

// Append makes the frames part of the state, in order and all or none, and
// returns once they are durable. After an error none of them is part of it,
// and appending them again is right. A process that dies before the answer
// leaves any number of them, counted from the first.
func (j *Journal) Append(frames ...Frame) error {
	r := newRequest()
	for _, f := range frames {
		r.add(newEntry(f))
	}
	j.mu.Lock()
	err := j.enqueueLocked(r)
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return r.wait()
}

func (j *Journal) enqueueLocked(r *request) error {
	if j.refuse != nil {
		return j.refuse
	}
	if r.size > maxFrame {
		return fmt.Errorf("journal: %d bytes are more than a frame may hold, which is %d", r.size, maxFrame)
	}
	j.queue = append(j.queue, r)
	signal(j.wake)
	return nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Accepted is an accepted chunk's place in the journal.
type Accepted struct {
	Seq uint64
	// Known is true if the same chunk was accepted before: there is nothing
	// more to do for it, and Seq is 0.
	Known bool
}

// AppendChunk accepts a chunk and returns once it is durable. data is read
// until then and not kept. during is called while the disk is busy, for what
// the caller wants to do with data in the meantime; nil for nothing.
//
// If o isn't zero and a chunk of that origin was accepted before, nothing is
// written and the answer is Known. Concurrent calls with one origin accept it
// once. After an error the chunk is void, and a later call with its origin is
// new.
func (j *Journal) AppendChunk(tag string, arrival time.Time, o Origin, data []byte, during func()) (Accepted, error) {
	for {
		own, other, seq, err := j.enqueueChunk(tag, arrival, o, data)
		switch {
		case err != nil:
			return Accepted{}, err
		case own != nil:
			if err := awaitDuring(own, during); err != nil {
				return Accepted{}, err
			}
			return Accepted{Seq: seq}, nil
		case other == nil || other.wait() == nil:
			return Accepted{Known: true}, nil
		}
		// The same chunk was being appended and is void: this one is new.
	}
}

// awaitDuring waits for the request also if during panics: until then the
// writer reads the caller's data.
func awaitDuring(r *request, during func()) (err error) {
	defer func() { err = r.wait() }()
	if during != nil {
		during()
	}
	return nil
}

// enqueueChunk returns the chunk's own request and sequence, or the request of
// another caller that is appending the same chunk, or neither if it is known.
func (j *Journal) enqueueChunk(tag string, arrival time.Time, o Origin, data []byte) (own, other *request, seq uint64, err error) {
	var key originKey
	if o.Name != "" {
		key = o.key()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.refuse != nil {
		return nil, nil, 0, j.refuse
	}
	if o.Name != "" {
		if other := j.inflight[key]; other != nil || j.st.known(key) {
			return nil, other, 0, nil
		}
	}
	seq = j.st.nextSeq
	f := &chunkFrame{seq: seq, arrival: arrival, origin: o, tag: tag, dataLen: len(data)}
	own = newRequest()
	own.chunk = true
	own.add(&entry{frame: f, kind: KindChunk, parts: [][]byte{f.encode(nil), data}})
	if err := j.enqueueLocked(own); err != nil {
		return nil, nil, 0, err
	}
	j.st.nextSeq++
	if o.Name != "" {
		j.inflight[key] = own
	}
	return own, nil, seq, nil
}

// runningLocked is the running time of all processes, this one included.
func (j *Journal) runningLocked() time.Duration { return j.baseRunning + time.Since(j.opened) }

// Close waits for the appends under way, refuses later ones with ErrClosed and
// releases the directory. Later calls wait for the first and answer the same.
func (j *Journal) Close() error {
	if j.lock == nil {
		return nil
	}
	j.end.Do(func() {
		j.mu.Lock()
		j.refuse = ErrClosed
		j.mu.Unlock()
		signal(j.wake)
		signal(j.prep)
		j.done.Wait()
		j.mu.Lock()
		j.released = true
		j.mu.Unlock()
		j.endErr = errors.Join(j.cur.file.Close(), j.lock.Close())
	})
	return j.endErr
}
