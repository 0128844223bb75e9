package journal

import (
	"cmp"
	"slices"
)

// tidy removes or reuses dead segments, and copies some live frames out of a
// mostly dead one. It reports whether there is more to do at once.
func (j *Journal) tidy() (more bool) {
	j.retireDead(true)
	if len(j.moving) == 0 {
		j.moving = j.planMoves()
	}
	if len(j.moving) == 0 {
		return false
	}
	for copied := int64(0); len(j.moving) > 0 && copied < copyForwardStep; {
		m := j.moving[0]
		j.moving = j.moving[1:]
		if !j.copyFrame(m) {
			j.moving = nil
			return false
		}
		copied += m.loc.size()
	}
	return true
}

// retireDead turns dead segments into spares or removes them. At a start they
// are removed: a crash may have left such a file under the name of a spare too.
func (j *Journal) retireDead(reuse bool) {
	j.mu.Lock()
	var dead []uint64
	for id := range j.segments {
		if id != j.cur.id && j.st.live[id] == 0 {
			dead = append(dead, id)
		}
	}
	j.mu.Unlock()
	slices.Sort(dead)
	for _, id := range dead {
		j.retire(id, reuse)
	}
}

// retire turns a dead segment into a spare if it may, or removes it. What can't
// be removed the next start finds dead again.
func (j *Journal) retire(id uint64, reuse bool) {
	j.mu.Lock()
	reuse = reuse && len(j.spares) < maxSpares && j.segments[id].size == j.segmentSize
	delete(j.segments, id)
	j.mu.Unlock()
	if reuse {
		name := j.spareName()
		err := j.disk.Rename(segmentName(id), name)
		if err == nil {
			j.mu.Lock()
			j.spares = append(j.spares, name)
			j.spareTried.Broadcast()
			j.mu.Unlock()
			return
		}
		j.discard(name) // it may have been renamed all the same
	}
	j.discard(segmentName(id))
}

// move is a live frame to be copied forward.
type move struct {
	id  uint64 // sequence of the chunk or seen batch
	loc location
}

const (
	// copyForwardStep bounds the bytes copied between two batches of appends.
	copyForwardStep = 1 << 20
	// liveShare is up to which part of its room a segment may be live for its
	// frames to be copied forward: that frees three quarters of a segment at
	// least. The room counts and not the size, or a large snapshot would make
	// every segment mostly dead.
	liveShare = 4
	// slackSegments is how many such segments are left alone. Chunks mostly die
	// in the order they came, so that there usually is one, dying: nothing is won
	// by copying from it.
	slackSegments = 1
)

// planMoves lists the live frames of the oldest segment that is mostly dead, if
// several have gathered, and if there is room for the frames: copying must not
// use up the last room and free nothing.
func (j *Journal) planMoves() []move {
	j.mu.Lock()
	defer j.mu.Unlock()
	var sparse []uint64
	for id, live := range j.st.live {
		if id == j.cur.id || j.stuck[id] || live*liveShare > j.segments[id].room {
			continue
		}
		if len(j.spares) > 0 || j.cur.bad == nil && live <= j.cur.room() {
			sparse = append(sparse, id)
		}
	}
	if len(sparse) <= slackSegments {
		return nil
	}
	slices.Sort(sparse)
	for _, id := range sparse {
		if moves := j.liveFramesLocked(id); len(moves) > 0 {
			return moves
		}
		j.stuck[id] = true
	}
	return nil
}

// liveFramesLocked are the live frames of a segment that can be read, in their
// order.
func (j *Journal) liveFramesLocked(segment uint64) (moves []move) {
	add := func(id uint64, loc location) {
		if loc.segment == segment && !j.unread[loc] {
			moves = append(moves, move{id, loc})
		}
	}
	for seq, c := range j.st.chunks {
		add(seq, c.loc)
	}
	for seq, b := range j.st.batches {
		add(seq, b.loc)
	}
	slices.SortFunc(moves, func(a, b move) int { return cmp.Compare(a.loc.offset, b.loc.offset) })
	return moves
}

// copyFrame appends a live frame again. It reports whether the journal still
// takes frames.
func (j *Journal) copyFrame(m move) bool {
	j.mu.Lock()
	c, b := j.st.chunks[m.id], j.st.batches[m.id]
	salt := j.segments[m.loc.segment].salt
	j.mu.Unlock()
	kind := KindChunk
	switch {
	case c != nil && c.loc == m.loc:
	case b != nil && b.loc == m.loc:
		kind = KindSeen
	default:
		return true // it died meanwhile
	}
	payload, err := j.readAt(m.loc, salt, j.moveBuf)
	var f Frame
	if err == nil {
		f, err = decodeFrame(kind, payload)
	}
	if err != nil {
		j.unread[m.loc] = true
		j.log.Error("journal: a live frame can't be copied forward; its segment stays",
			"segment", segmentName(m.loc.segment), "error", err, "do", "check the disk")
		return true
	}
	r := newRequest()
	r.add(&entry{frame: f, kind: kind, parts: [][]byte{payload}})
	j.commit([]*request{r})
	if cap(payload) <= copyForwardStep {
		j.moveBuf = payload[:0]
	}
	return r.wait() == nil
}
