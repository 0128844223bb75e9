package journal

import (
	"fmt"
	"runtime/debug"
	"slices"
)

// maxBatch bounds what one fdatasync covers, so that a flush never waits for
// much more than its own bytes.
const maxBatch = 16 << 20

// run is the writer goroutine: it alone appends and changes the state. It ends
// when the journal closes and the queue is empty.
func (j *Journal) run() {
	defer j.done.Done()
	defer func() {
		if p := recover(); p != nil {
			j.broke(p)
		}
	}()
	for more := true; ; {
		closing := j.take()
		if len(j.batch) == 0 {
			if closing {
				return
			}
			if !more {
				<-j.wake
				continue
			}
		}
		j.commit(j.batch)
		j.batch = nil
		more = j.tidy()
	}
}

// broke answers everybody after a panic: what state and segment are in isn't
// known.
func (j *Journal) broke(p any) {
	j.log.Error("bug: the journal's writer panicked; please report this", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	j.mu.Lock()
	if j.refuse == nil {
		j.refuse = ErrBroken
	}
	left := append(j.batch, j.queue...)
	j.batch, j.queue = nil, nil
	clear(j.inflight)
	j.mu.Unlock()
	for _, r := range left {
		r.answer(ErrBroken)
	}
}

// take removes the next batch from the queue. It reports whether the journal
// closes and none follows.
func (j *Journal) take() (closing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	size, n := int64(0), 0
	for n < len(j.queue) && (n == 0 || size+j.queue[n].size <= maxBatch) {
		size += j.queue[n].size
		n++
	}
	j.batch = slices.Clone(j.queue[:n])
	clear(j.queue[:n])
	j.queue = j.queue[n:]
	return j.refuse != nil && len(j.queue) == 0
}

// commit makes each request durable or fails it.
func (j *Journal) commit(batch []*request) {
	for len(batch) > 0 {
		if batch = j.refuseChunks(batch); len(batch) == 0 {
			return
		}
		n := j.fitting(batch)
		if n == 0 {
			if err := j.begin(batch[0].size); err != nil {
				failed := batch
				if j.cur.bad == nil {
					failed = batch[:1] // the others may still fit
				}
				j.finish(failed, fmt.Errorf("begin a journal segment: %w", err))
				batch = batch[len(failed):]
			}
			continue
		}
		var entries []*entry
		for _, r := range batch[:n] {
			entries = append(entries, r.entries...)
		}
		err := j.cur.write(entries)
		j.finish(batch[:n], err)
		batch = batch[n:]
	}
}

// refuseChunks fails the chunks if the next segment isn't there and can't be
// made: finishing the work that was accepted may need it.
func (j *Journal) refuseChunks(batch []*request) []*request {
	isChunk := func(r *request) bool { return r.chunk }
	if !slices.ContainsFunc(batch, isChunk) {
		return batch
	}
	err := j.awaitSpare()
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
	j.finish(refused, err)
	return kept
}

// fitting is how many of the requests fit into the current segment.
func (j *Journal) fitting(batch []*request) int {
	if j.cur.bad != nil {
		return 0
	}
	room := j.cur.room()
	for i, r := range batch {
		if room -= r.size; room < 0 {
			return i
		}
	}
	return len(batch)
}

// finish applies synced requests to the state, or voids failed ones, and
// answers them.
func (j *Journal) finish(batch []*request, err error) {
	for _, o := range j.apply(batch, err) {
		j.log.Error("bug: the journal was told of what it doesn't know; please report this", "what", o)
	}
	for _, r := range batch {
		r.answer(err)
	}
}

// apply changes the state, and returns what was odd.
func (j *Journal) apply(batch []*request, err error) (odd []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range batch {
		for _, e := range r.entries {
			if err == nil {
				e.frame.apply(j.st, e.loc)
			}
			if f, ok := e.frame.(*chunkFrame); ok && f.origin.Name != "" && r.chunk {
				delete(j.inflight, f.origin.key())
			}
		}
	}
	odd, j.st.odd = j.st.odd, nil
	return odd
}

// begin starts a new segment with a snapshot and room for a request of the
// given size. Only after its directory is synced is it the current one.
func (j *Journal) begin(size int64) error {
	id := j.nextID
	j.nextID++ // a segment that fails to begin may still appear: its number is used up
	payload := j.snapshot()
	seg, name, err := j.openSpare(frameSize(len(payload)), size)
	if err != nil {
		return err
	}
	seg.id = id
	if err := seg.start(newSegmentHeader(id, j.st.id), payload); err != nil {
		_ = seg.file.Close()
		j.discard(name)
		return err
	}
	err = j.disk.Rename(name, segmentName(id))
	if err == nil {
		err = j.disk.SyncDir(Dir)
	}
	if err != nil {
		j.disown(seg, name, err)
		return err
	}
	old := j.cur
	j.cur = seg
	j.mu.Lock()
	j.segments[id] = segmentInfo{size: seg.size, room: seg.room(), salt: seg.salt}
	j.mu.Unlock()
	signal(j.prep)
	if old != nil {
		_ = old.file.Close() // synced: it has nothing left to fail with
	}
	return nil
}

// disown removes a segment of which it isn't known whether a crash would leave
// its name. If it did, the segment would be the newest, and what its
// predecessor got from now on would be lost: so that one gets nothing more.
func (j *Journal) disown(seg *segment, name string, err error) {
	if j.cur != nil && j.cur.bad == nil {
		j.cur.bad = fmt.Errorf("its successor %s could not be begun: %w", segmentName(seg.id), err)
	}
	_ = seg.file.Close()
	j.discard(name, segmentName(seg.id))
}

// snapshot encodes the state as it is durable, after forgetting what is old
// enough.
func (j *Journal) snapshot() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.st.running = j.runningLocked()
	j.st.forget()
	j.st.older = map[uint64]older{}
	for id := range j.st.live {
		info := j.segments[id]
		j.st.older[id] = older{upTo: info.size, salt: info.salt}
	}
	if j.cur != nil && j.st.live[j.cur.id] > 0 {
		j.st.older[j.cur.id] = older{upTo: j.cur.synced, salt: j.cur.salt}
	}
	b := j.st.encodeSnapshot(make([]byte, 0, j.snapshotSize+j.snapshotSize/8))
	j.snapshotSize = len(b)
	return b
}
