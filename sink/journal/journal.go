package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
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

// ErrNoSpare refuses a chunk because the disk has no room for the segment after
// the current one.
var ErrNoSpare = errors.New("no room on the disk for another journal segment")

// Journal is the open journal of one instance.
type Journal struct {
	disk        disk.Disk
	log         *slog.Logger
	segmentSize int64
	lock        io.Closer
	opened      time.Time
	baseRunning time.Duration // st.running when opened

	wake chan struct{} // capacity 1: the queue isn't empty, or closing
	prep chan struct{} // capacity 1: a spare is wanted
	done sync.WaitGroup

	nextSpare atomic.Uint64

	mu       sync.Mutex
	st       *state
	queue    []*request
	inflight map[originKey]*request
	closing  bool
	spares   map[string]int64 // ready for use, with their size
	sizes    map[uint64]int64 // of the segments on disk
	spareErr error            // why the last spare could not be made
	// spareTries counts the attempts to make one; spareTried tells of each.
	spareTries int
	spareTried *sync.Cond // on mu

	// The writer goroutine's own.
	cur    *segment
	nextID uint64
	moving []move
	unread map[location]bool // live frames that can't be read, reported once
}

// request is a caller waiting for its entries to be synced.
type request struct {
	entries []*entry
	size    int64
	chunk   bool
	done    chan error // capacity 1
}

// Append makes the frames part of the state, in order and all or none, and
// returns once they are durable. After an error none of them is part of it,
// and appending them again is right.
func (j *Journal) Append(frames ...Frame) error {
	r := &request{done: make(chan error, 1)}
	for _, f := range frames {
		r.add(newEntry(f))
	}
	if err := j.enqueue(r); err != nil {
		return err
	}
	return <-r.done
}

func (r *request) add(e *entry) {
	r.entries = append(r.entries, e)
	r.size += frameSize(e.payloadLen())
}

func (j *Journal) enqueue(r *request) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.enqueueLocked(r)
}

func (j *Journal) enqueueLocked(r *request) error {
	if j.closing {
		return ErrClosed
	}
	if r.size > maxFrame {
		return fmt.Errorf("journal: %d bytes are more than a frame can hold", r.size)
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
		r, seq, other, err := j.enqueueChunk(tag, arrival, o, data)
		switch {
		case err != nil:
			return Accepted{}, err
		case other != nil: // the same chunk is being appended: its fate decides
			if err := <-other.done; err == nil {
				other.done <- nil
				return Accepted{Known: true}, nil
			} else {
				other.done <- err
			}
			continue
		case r == nil:
			return Accepted{Known: true}, nil
		}
		if during != nil {
			during()
		}
		err = <-r.done
		r.done <- err // for those who wait for the same chunk
		return Accepted{Seq: seq}, err
	}
}

// enqueueChunk returns the chunk's own request, or the one of another caller
// that is appending the same chunk, or neither if it is known.
func (j *Journal) enqueueChunk(tag string, arrival time.Time, o Origin, data []byte) (r *request, seq uint64, other *request, err error) {
	var key originKey
	if o.Name != "" {
		key = o.key()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if o.Name != "" {
		if other := j.inflight[key]; other != nil {
			return nil, 0, other, nil
		}
		if j.st.known(key) {
			return nil, 0, nil, nil
		}
	}
	seq = j.st.nextSeq
	f := &chunkFrame{seq: seq, arrival: arrival, origin: o, tag: tag, dataLen: len(data)}
	r = &request{chunk: true, done: make(chan error, 1)}
	r.add(&entry{frame: f, kind: KindChunk, parts: [][]byte{f.encode(nil), data}})
	if err := j.enqueueLocked(r); err != nil {
		return nil, 0, nil, err
	}
	j.st.nextSeq++
	if o.Name != "" {
		j.inflight[key] = r
	}
	return r, seq, nil, nil
}

// NextPart takes the next part number.
func (j *Journal) NextPart() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.st.nextPart++
	return j.st.nextPart - 1
}

// NextNumber is the part number that NextPart would take.
func (j *Journal) NextNumber() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.st.nextPart
}

// WriterID is the instance's name.
func (j *Journal) WriterID() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.st.writerID
}

// Live describes a chunk of which some records aren't in rolled parts.
type Live struct {
	Seq     uint64
	Length  int64 // of the frame
	Arrival time.Time
	// Deaths is how many processes in a row died while decoding it.
	Deaths int
	// DeadLetter is true if an operator sent it undecoded to the dead letters.
	DeadLetter bool
}

// Chunks describes the live chunks by sequence.
func (j *Journal) Chunks() []Live {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Live, 0, len(j.st.chunks))
	for seq, c := range j.st.chunks {
		out = append(out, c.describe(seq))
	}
	slices.SortFunc(out, func(a, b Live) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return out
}

func (c *chunk) describe(seq uint64) Live {
	return Live{Seq: seq, Length: int64(c.loc.length), Arrival: c.arrival, Deaths: int(c.deaths), DeadLetter: c.asLetter}
}

// Chunk describes one live chunk, and false if it isn't live.
func (j *Journal) Chunk(seq uint64) (Live, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.st.chunks[seq]
	if c == nil {
		return Live{}, false
	}
	return c.describe(seq), true
}

// Covered is which records of a chunk are in rolled parts now.
func (j *Journal) Covered(seq uint64) Coverage {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.st.chunks[seq]; c != nil {
		return c.covered.clone()
	}
	return Coverage{}
}

// Parts are copies of the pending parts, by number.
func (j *Journal) Parts() []Part {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make([]Part, 0, len(j.st.parts))
	for _, n := range slices.Sorted(maps.Keys(j.st.parts)) {
		out = append(out, j.st.parts[n].clone())
	}
	return out
}

// Part is a copy of one pending part, and false if there is none.
func (j *Journal) Part(n uint64) (Part, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.st.parts[n]; p != nil {
		return p.clone(), true
	}
	return Part{}, false
}

// Leftovers are the temps of finished parts that aren't confirmed gone.
func (j *Journal) Leftovers() []Leftover {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.st.leftovers)
}

// Totals count what was ever finished.
func (j *Journal) Totals() Totals {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.st.totals
}

// Usage is the bytes that segments and spares take on the disk.
func (j *Journal) Usage() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	total := int64(0)
	for _, size := range j.sizes {
		total += size
	}
	for _, size := range j.spares {
		total += size
	}
	return total
}

// Payload is a chunk read back. Data aliases the buffer that Read was given,
// or a larger one that took its place.
type Payload struct {
	Tag     string
	Arrival time.Time
	Data    []byte
}

// Read reads a live chunk back. The error is a *DamageError if it can't be
// had any more, and wraps fs.ErrNotExist if it isn't live.
func (j *Journal) Read(seq uint64, buf []byte) (Payload, error) {
	payload, err := j.readLive(func() (location, bool) {
		c := j.st.chunks[seq]
		if c == nil {
			return location{}, false
		}
		return c.loc, true
	}, buf)
	if err != nil {
		return Payload{}, fmt.Errorf("chunk %d: %w", seq, err)
	}
	f, data, err := decodeChunk(payload)
	if err != nil {
		return Payload{}, fmt.Errorf("chunk %d: %w", seq, err)
	}
	return Payload{Tag: f.tag, Arrival: f.arrival, Data: data}, nil
}

// readLive reads the frame that locate, called with mu held, answers. A frame
// may be copied forward and its segment used again meanwhile: it is bad only if
// it still is where it was read.
func (j *Journal) readLive(locate func() (location, bool), buf []byte) ([]byte, error) {
	for {
		j.mu.Lock()
		loc, ok := locate()
		j.mu.Unlock()
		if !ok {
			return nil, fs.ErrNotExist
		}
		payload, err := j.readAt(loc, buf)
		if err == nil {
			return payload, nil
		}
		j.mu.Lock()
		again, ok := locate()
		j.mu.Unlock()
		if !ok {
			return nil, fs.ErrNotExist
		}
		if again == loc {
			return nil, err
		}
	}
}

func (j *Journal) readAt(loc location, buf []byte) ([]byte, error) {
	f, err := j.disk.Open(segmentName(loc.segment))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &DamageError{Segment: loc.segment, Offset: loc.offset, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", segmentName(loc.segment), err)
	}
	defer f.Close()
	_, payload, err := readFrame(f, loc, buf)
	return payload, err
}

// OriginDirs are the directories in which known chunk files may still exist.
func (j *Journal) OriginDirs() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	dirs := map[string]bool{}
	for _, p := range j.st.present {
		dirs[p.dir] = true
	}
	return slices.Sorted(maps.Keys(dirs))
}

// Remembered limits, see MarkGone.
const (
	// seenBatchSize is how many identities whose files are gone make a frame.
	seenBatchSize = 4096
	// rememberFor is how much longer than its file an identity is remembered,
	// in running time: a file whose removal a power loss undid comes back with
	// the machine, not a day later.
	rememberFor = 24 * time.Hour
)

// MarkGone says which chunk files still exist in a directory. Identities
// whose files don't are moved to frames of their own once there are enough of
// them, and forgotten after a day of running time.
func (j *Journal) MarkGone(dir string, exists func(name string) bool) error {
	j.mu.Lock()
	var keys []originKey
	for k, p := range j.st.present {
		if p.dir == dir && j.inflight[k] == nil && !exists(p.name) {
			keys = append(keys, k)
		}
	}
	if len(keys) < seenBatchSize {
		j.mu.Unlock()
		return nil
	}
	seq := j.st.nextSeq
	j.st.nextSeq++
	since := j.runningLocked()
	j.mu.Unlock()
	slices.SortFunc(keys, func(a, b originKey) int { return bytes.Compare(a[:], b[:]) })
	return j.Append(&seenFrame{seq: seq, since: since, keys: keys})
}

// runningLocked is the running time of all processes, this one included.
func (j *Journal) runningLocked() time.Duration { return j.baseRunning + time.Since(j.opened) }

// Close waits for the appends under way, refuses later ones and releases the
// directory.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closing {
		j.mu.Unlock()
		return nil
	}
	j.closing = true
	j.mu.Unlock()
	signal(j.wake)
	signal(j.prep)
	j.done.Wait()
	return errors.Join(j.cur.file.Close(), j.lock.Close())
}
