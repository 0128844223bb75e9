package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// Dir is the journal's directory in the state directory.
const Dir = log.Dir

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
	// Letters tells the buckets of dead letters, whose records the ledger counts
	// apart; nil for none.
	Letters func(bucket string) bool
	// Tool is set by operators' tools, which decode nothing: what the last
	// process was decoding when it died isn't counted as a death.
	Tool bool
}

// ErrClosed is the error of an append to a closed journal.
var ErrClosed = log.ErrClosed

// ErrNoSpare refuses a chunk because the segment after the current one, which
// finishing the accepted work may need, can't be made.
var ErrNoSpare = log.ErrNoSpare

// ErrBroken is the error of every append after the writer panicked. The next
// Open goes on from what is durable.
var ErrBroken = log.ErrBroken

// DamageError says that a frame that was durable can't be read back.
type DamageError = log.DamageError

// VersionError is the error of a journal that a newer release wrote.
type VersionError = log.VersionError

// Journal is the open journal of one instance.
type Journal struct {
	queries
	log      *log.Log
	logger   *slog.Logger
	lock     io.Closer // nil for Inspect's
	wake     chan struct{}
	done     sync.WaitGroup // of the writer
	end      sync.Once
	endErr   error // what closing the files answered; guarded by end
	queue    []*request
	inflight map[originKey]*request
	refuse   error // of further appends: ErrClosed or ErrBroken
	released bool  // the directory may be another's
}

// request is a caller waiting for its entries to be synced.
type request struct {
	frames  []Frame
	entries []*log.Entry // of the frames
	size    int64
	chunk   bool
	done    chan error // capacity 1
	// answered is the writer goroutine's own.
	answered bool

	// What follows is guarded by the journal's lock.
	settled bool            // applied or void
	void    bool            // to be voided once it is durable
	late    func(err error) // called once it is settled, nil for nobody
}

func newRequest() *request { return &request{done: make(chan error, 1)} }

// add adds a frame whose payload is the concatenation of parts.
func (r *request) add(f Frame, parts ...[]byte) {
	e := &log.Entry{Kind: log.Kind(f.kind()), Parts: parts}
	r.frames, r.entries = append(r.frames, f), append(r.entries, e)
	r.size += log.FrameSize(e.Len())
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
		r.add(f, f.encode(nil))
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
	if r.size > log.MaxFrame {
		return fmt.Errorf("journal: %d bytes are more than a frame may hold, which is %d", r.size, log.MaxFrame)
	}
	j.queue = append(j.queue, r)
	j.signal()
	return nil
}

// signal tells the writer that the queue isn't empty, or that it must end.
func (j *Journal) signal() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// Usage is the bytes that segments and spares take on the disk.
func (j *Journal) Usage() int64 { return j.log.Usage() }

// Payload is a chunk read back. Data aliases the buffer that Read was given,
// or a larger one that took its place.
type Payload struct {
	Tag     string
	Arrival time.Time
	Data    []byte
}

// Read reads a live chunk back. The error is a *DamageError if it can't be
// had any more, and wraps fs.ErrNotExist if it isn't live. Any other error may
// pass.
func (j *Journal) Read(seq uint64, buf []byte) (Payload, error) {
	payload, loc, err := j.readLive(seq, buf)
	if err != nil {
		return Payload{}, fmt.Errorf("chunk %d: %w", seq, err)
	}
	f, data, err := decodeChunk(payload)
	if err == nil && f.seq != seq {
		err = fmt.Errorf("it is chunk %d", f.seq)
	}
	if err != nil {
		return Payload{}, fmt.Errorf("chunk %d: %w", seq, &DamageError{Segment: loc.Segment, Offset: loc.Offset, Err: err})
	}
	return Payload{Tag: f.tag, Arrival: f.arrival, Data: data}, nil
}

// readLive reads a live chunk's frame. It may be copied forward and its
// segment used again meanwhile: it is bad only if it still is where it was
// read.
func (j *Journal) readLive(seq uint64, buf []byte) ([]byte, log.Location, error) {
	loc, err := j.locate(seq)
	for err == nil {
		payload, bad := j.log.Read(loc, buf)
		if bad == nil {
			return payload, loc, nil
		}
		was := loc
		if loc, err = j.locate(seq); err == nil && loc == was {
			return nil, loc, bad
		}
	}
	return nil, log.Location{}, err
}

// locate is where a live chunk lies.
func (j *Journal) locate(seq uint64) (log.Location, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.released {
		return log.Location{}, ErrClosed
	}
	c := j.st.chunks[seq]
	if c == nil {
		return log.Location{}, fmt.Errorf("not live: %w", fs.ErrNotExist)
	}
	return c.loc, nil
}

// GiveUp ends a chunk that Read found damaged, after a copy of its segment was
// set aside. Should Fluent Bit deliver it again, it is new.
func (j *Journal) GiveUp(seq uint64) error {
	loc, err := j.locate(seq)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := j.log.SetAside(loc.Segment); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set a damaged segment aside: %w", err)
	}
	return j.Append(Lost{seq})
}

// Close waits for the appends under way, refuses later ones with ErrClosed and
// releases the directory. Later calls wait for the first and answer the same.
// On a disk that hangs it lasts until the disk goes on.
func (j *Journal) Close() error {
	if j.lock == nil {
		return nil
	}
	j.end.Do(func() {
		j.mu.Lock()
		j.refuse = ErrClosed
		j.mu.Unlock()
		j.signal()
		j.done.Wait()
		err := j.log.Close()
		j.mu.Lock()
		j.released = true
		j.mu.Unlock()
		j.endErr = errors.Join(err, j.lock.Close())
	})
	return j.endErr
}
