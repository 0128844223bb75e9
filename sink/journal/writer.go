package journal

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// maxBatch bounds what one fdatasync covers, so that a flush never waits for
// much more than its own bytes.
const maxBatch = 16 << 20

// writer is the writer goroutine's own: it alone appends and changes the state.
// Concurrent appends share its fdatasync.
type writer struct {
	*Journal
	batch        []*request // taken and not all answered
	snapshotSize int        // of the last one
	moving       []move
	moveBuf      []byte
	unread       map[log.Location]bool // live frames that can't be read, reported once
	immovable    map[uint64]bool       // segments of which nothing else is live
}

func newWriter(j *Journal) *writer {
	return &writer{Journal: j, unread: map[log.Location]bool{}, immovable: map[uint64]bool{}}
}

// run ends when the journal closes and the queue is empty.
func (w *writer) run() {
	defer func() {
		if p := recover(); p != nil {
			w.broke(p)
		}
	}()
	for more := true; ; {
		closing := w.take()
		if len(w.batch) == 0 {
			if closing {
				w.leaveNoVoid()
				return
			}
			if !more {
				<-w.wake
				continue
			}
		}
		w.commit(w.batch)
		w.batch = nil
		more = w.moveOn()
	}
}

// leaveNoVoid begins a segment in place of one whose last write or sync failed:
// its void frames may be whole, and the next start would take them for good. A
// disk that can't do that either has been told of.
func (w *writer) leaveNoVoid() {
	if !w.log.Ended() {
		return
	}
	if err := w.begin(0); err != nil {
		w.logger.Warn("the journal ends with a write that failed: a chunk that was answered RETRY may be written twice", "error", err)
	}
}

// broke answers everybody after a panic: what state and segment are in isn't
// known.
func (w *writer) broke(p any) {
	w.logger.Error("bug: the journal's writer panicked; please report this", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	w.mu.Lock()
	if w.refuse == nil {
		w.refuse = ErrBroken
	}
	left := append(w.batch, w.queue...)
	w.batch, w.queue = nil, nil
	for _, r := range left {
		w.settleLocked(r)
	}
	w.mu.Unlock()
	answerAll(left, ErrBroken)
}

// take removes the next batch from the queue. It reports whether the journal
// closes and none follows.
func (w *writer) take() (closing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	size, n := int64(0), 0
	for n < len(w.queue) && (n == 0 || size+w.queue[n].size <= maxBatch) {
		size += w.queue[n].size
		n++
	}
	w.batch = slices.Clone(w.queue[:n])
	clear(w.queue[:n])
	w.queue = w.queue[n:]
	return w.refuse != nil && len(w.queue) == 0
}

// commit makes each request durable or fails it.
func (w *writer) commit(batch []*request) {
	for len(batch) > 0 {
		if batch = w.refuseChunks(batch); len(batch) == 0 {
			return
		}
		n := w.fitting(batch)
		if n == 0 {
			if err := w.begin(batch[0].size); err != nil {
				failed := batch
				if !w.log.Ended() {
					failed = batch[:1] // the others may still fit
				}
				w.finish(failed, fmt.Errorf("begin a journal segment: %w", err))
				batch = batch[len(failed):]
			}
			continue
		}
		var entries []*log.Entry
		for _, r := range batch[:n] {
			entries = append(entries, r.entries...)
		}
		err := w.log.Append(entries)
		w.finish(batch[:n], err)
		batch = batch[n:]
	}
}

// refuseChunks fails the chunks if the next segment isn't there and can't be
// made: finishing the work that was accepted may need it.
func (w *writer) refuseChunks(batch []*request) []*request {
	isChunk := func(r *request) bool { return r.chunk }
	if !slices.ContainsFunc(batch, isChunk) {
		return batch
	}
	err := w.log.AwaitSpare()
	if err == nil {
		return batch
	}
	var refused, kept []*request
	for _, r := range batch {
		if r.chunk {
			refused = append(refused, r)
		} else {
			kept = append(kept, r)
		}
	}
	w.finish(refused, err)
	return kept
}

// fitting is how many of the requests fit into the current segment.
func (w *writer) fitting(batch []*request) int {
	if w.log.Ended() {
		return 0
	}
	room := w.log.Room()
	for i, r := range batch {
		if room -= r.size; room < 0 {
			return i
		}
	}
	return len(batch)
}

// finish applies synced requests to the state, or voids failed ones, and
// answers them.
func (w *writer) finish(batch []*request, err error) {
	for _, o := range w.apply(batch, err) {
		w.logger.Error("bug: the journal was told of what it doesn't know; please report this", "what", o)
	}
	answerAll(batch, err)
}

// answerAll answers settled requests.
func answerAll(batch []*request, err error) {
	for _, r := range batch {
		if r.answer(err); r.late != nil {
			late := r.late
			r.late = nil
			if r.void && err == nil {
				late(ErrLate)
			} else {
				late(err)
			}
		}
	}
}

// apply changes the state, and returns what was odd.
func (w *writer) apply(batch []*request, err error) (odd []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range batch {
		for i, f := range r.frames {
			if err == nil {
				f.apply(w.st, r.entries[i].At)
			}
		}
		w.settleLocked(r)
		if r.void && err == nil {
			w.voidLocked(r.chunkFrame().seq)
		}
	}
	odd, w.st.odd = w.st.odd, nil
	return odd
}

// begin begins a segment with a snapshot and room for a request of the given
// size.
func (w *writer) begin(size int64) error {
	payload := w.snapshot()
	return w.log.Begin(w.st.id, &log.Entry{Kind: log.Kind(KindSnapshot), Parts: [][]byte{payload}}, size)
}

// snapshot encodes the state as it is durable.
func (w *writer) snapshot() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.st.running = w.runningLocked()
	w.st.older = map[uint64]older{}
	for id := range w.st.live {
		info := w.log.Info(id)
		w.st.older[id] = older{upTo: info.Size, salt: info.Salt}
	}
	if id := w.log.Current(); w.st.live[id] > 0 {
		w.st.older[id] = older{upTo: w.log.Synced(), salt: w.log.Info(id).Salt}
	}
	b := w.st.encodeSnapshot(make([]byte, 0, w.snapshotSize+w.snapshotSize/8))
	w.snapshotSize = len(b)
	return b
}
