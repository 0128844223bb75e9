package journal

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// maxBatch bounds what one fdatasync covers, so that a flush never waits for
// much more than its own bytes.
const maxBatch = 16 << 20

// tailReserve is the room in a segment that chunks leave to other frames while
// there is no spare.
const tailReserve = 1 << 20

// maxSpares is how many segments to come are kept: the next one, and one more
// so that a dead segment isn't removed to be made anew.
const maxSpares = 2

// run is the writer goroutine: it alone appends and changes the state. It ends
// when the journal closes and the queue is empty.
func (j *Journal) run() {
	defer j.done.Done()
	for {
		batch, closing := j.take()
		if len(batch) == 0 {
			if closing {
				return
			}
			if len(j.moving) == 0 {
				<-j.wake
				continue
			}
		}
		j.commit(batch)
		j.tidy()
	}
}

// take removes the next batch from the queue.
func (j *Journal) take() (batch []*request, closing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	size := int64(0)
	for len(j.queue) > 0 && (len(batch) == 0 || size+j.queue[0].size <= maxBatch) {
		size += j.queue[0].size
		batch = append(batch, j.queue[0])
		j.queue[0] = nil
		j.queue = j.queue[1:]
	}
	return batch, j.closing && len(j.queue) == 0
}

// commit makes each request durable or fails it.
func (j *Journal) commit(batch []*request) {
	batch = j.refuseChunks(batch)
	for len(batch) > 0 {
		n := j.fitting(batch)
		if n == 0 {
			if err := j.begin(batch[0].size); err != nil {
				j.finish(batch, fmt.Errorf("begin a journal segment: %w", err))
				return
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

// refuseChunks fails the chunks for which there would be no segment left to
// finish the work in.
func (j *Journal) refuseChunks(batch []*request) []*request {
	j.mu.Lock()
	ready := len(j.spares) > 0
	j.mu.Unlock()
	if ready {
		return batch
	}
	room := int64(0)
	if j.cur != nil && j.cur.bad == nil {
		room = j.cur.room() - min(tailReserve, j.segmentSize/8)
	}
	return slices.DeleteFunc(batch, func(r *request) bool {
		if !r.chunk {
			return false
		}
		if room -= r.size; room >= 0 {
			return false
		}
		err := j.awaitSpare()
		if err != nil {
			j.finish([]*request{r}, err)
		}
		return err != nil
	})
}

// fitting is how many of the requests fit into the current segment.
func (j *Journal) fitting(batch []*request) int {
	if j.cur == nil || j.cur.bad != nil {
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
	j.mu.Lock()
	for _, r := range batch {
		for _, e := range r.entries {
			if err == nil {
				e.frame.apply(j.st, e.loc)
			}
			if f, ok := e.frame.(*chunkFrame); ok && f.origin.Name != "" {
				k := f.origin.key()
				if j.inflight[k] == r {
					delete(j.inflight, k)
				}
			}
		}
	}
	odd := j.st.odd
	j.st.odd = nil
	j.mu.Unlock()
	for _, o := range odd {
		j.log.Error("journal: unexpected frame", "what", o)
	}
	for _, r := range batch {
		r.done <- err
	}
}

// begin starts a new segment with a snapshot and room for a request of the
// given size. Only after its directory is synced is it the current one.
func (j *Journal) begin(size int64) error {
	if j.cur != nil && j.cur.bad == nil {
		// Each write ends with a sync: the predecessor is durable up to its end.
		if j.cur.synced != j.cur.at {
			panic("journal: unsynced frames at the end of a segment")
		}
	}
	id := j.nextID
	j.nextID++ // a segment that fails to begin may still appear: never reuse its number
	j.mu.Lock()
	payload := j.snapshotLocked()
	j.mu.Unlock()
	header := segmentHeader{version: version, segment: id, state: j.st.id, created: time.Now().UnixNano()}.encode()
	need := headerSize + frameSize(len(payload)) + size
	seg, name, err := j.openSpare(id, max(need, j.segmentSize))
	if err != nil {
		return err
	}
	err = seg.writeSnapshot(header, payload)
	if err == nil {
		err = j.disk.Rename(name, segmentName(id))
	}
	if err == nil {
		err = j.disk.SyncDir(Dir)
	}
	if err != nil {
		_ = seg.file.Close()
		j.discard(name, segmentName(id))
		return err
	}
	old := j.cur
	j.cur = seg
	j.mu.Lock()
	j.sizes[id] = seg.size
	j.mu.Unlock()
	signal(j.prep)
	if old != nil {
		return ignoreClose(old.file.Close())
	}
	return nil
}

// ignoreClose says that an error of closing a synced file has no consequence.
func ignoreClose(error) error { return nil }

// writeSnapshot writes the header and the snapshot, and syncs them.
func (s *segment) writeSnapshot(header, payload []byte) error {
	if err := s.file.WriteVec([][]byte{header}, 0); err != nil {
		return fmt.Errorf("write the header of %s: %w", segmentName(s.id), err)
	}
	s.at, s.synced = headerSize, headerSize
	return s.write([]*entry{{kind: KindSnapshot, parts: [][]byte{payload}}})
}

// snapshotLocked encodes the state, after forgetting what is old enough.
func (j *Journal) snapshotLocked() []byte {
	now := j.runningLocked()
	j.st.running = now
	for seq, b := range j.st.batches {
		if now-b.since > rememberFor {
			j.st.dropLive(b.loc)
			delete(j.st.batches, seq)
		}
	}
	j.st.older = map[uint64]int64{}
	for id := range j.st.live {
		j.st.older[id] = j.sizes[id]
	}
	if j.cur != nil && j.st.live[j.cur.id] > 0 {
		j.st.older[j.cur.id] = j.cur.synced
	}
	return j.st.encodeSnapshot(nil)
}

// tidy removes or reuses dead segments, and copies live frames out of mostly
// dead ones.
func (j *Journal) tidy() {
	j.mu.Lock()
	var dead []uint64
	for id := range j.sizes {
		if (j.cur == nil || id != j.cur.id) && j.st.live[id] == 0 {
			dead = append(dead, id)
		}
	}
	j.mu.Unlock()
	slices.Sort(dead)
	for _, id := range dead {
		j.retire(id)
	}
	j.copyForward()
}

// retire turns a dead segment into a spare, or removes it. If that fails it
// stays, and the next start finds it dead again.
func (j *Journal) retire(id uint64) {
	j.mu.Lock()
	size := j.sizes[id]
	reuse := len(j.spares) < maxSpares && size == j.segmentSize
	delete(j.sizes, id)
	j.mu.Unlock()
	if reuse {
		name := j.spareName()
		if err := j.disk.Rename(segmentName(id), name); err == nil {
			j.mu.Lock()
			j.spares[name] = size
			j.mu.Unlock()
			return
		}
	}
	if err := j.disk.Remove(segmentName(id)); err != nil {
		j.log.Warn("journal: a dead segment can't be removed; the next start tries again",
			"segment", segmentName(id), "error", err)
	}
}

// move is a live frame to be copied forward.
type move struct {
	id  uint64 // sequence of the chunk or seen batch
	loc location
}

// copyForwardStep bounds the bytes copied between two batches of appends.
const copyForwardStep = 1 << 20

// copyForward copies some live frames of mostly dead segments to the end.
func (j *Journal) copyForward() {
	if len(j.moving) == 0 {
		j.moving = j.planMoves()
	}
	for copied := int64(0); len(j.moving) > 0 && copied < copyForwardStep; {
		m := j.moving[0]
		j.moving = j.moving[1:]
		if !j.copyFrame(m) {
			j.moving = nil
			return
		}
		copied += m.loc.size()
	}
}

// planMoves lists the live frames of the first segment of which at most a
// quarter is live, once at least two segments could be saved that way or the
// segment alone is worth it.
func (j *Journal) planMoves() []move {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(j.st.live)) {
		if j.cur == nil || id == j.cur.id || j.st.live[id]*4 > j.sizes[id] {
			continue
		}
		var moves []move
		add := func(seq uint64, loc location) {
			if loc.segment == id && !j.unread[loc] {
				moves = append(moves, move{seq, loc})
			}
		}
		for seq, c := range j.st.chunks {
			add(seq, c.loc)
		}
		for seq, b := range j.st.batches {
			add(seq, b.loc)
		}
		if len(moves) > 0 {
			slices.SortFunc(moves, func(a, b move) int { return int(a.loc.offset - b.loc.offset) })
			return moves
		}
	}
	return nil
}

// copyFrame appends a live frame again. It reports whether the journal still
// takes frames.
func (j *Journal) copyFrame(m move) bool {
	j.mu.Lock()
	c, b := j.st.chunks[m.id], j.st.batches[m.id]
	live := c != nil && c.loc == m.loc || b != nil && b.loc == m.loc
	j.mu.Unlock()
	if !live {
		return true
	}
	payload, err := j.readAt(m.loc, nil)
	if err == nil {
		var f Frame
		if f, err = decodeFrame(liveKind(c), payload); err == nil {
			r := &request{done: make(chan error, 1)}
			r.add(&entry{frame: f, kind: f.kind(), parts: [][]byte{payload}})
			j.commit([]*request{r})
			return <-r.done == nil
		}
	}
	j.unread[m.loc] = true
	j.log.Error("journal: a live frame can't be copied forward; its segment stays",
		"segment", segmentName(m.loc.segment), "error", err)
	return true
}

func liveKind(c *chunk) Kind {
	if c != nil {
		return KindChunk
	}
	return KindSeen
}
