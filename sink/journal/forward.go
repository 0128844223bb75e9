package journal

import (
	"cmp"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// moveOn removes or reuses dead segments, and copies some live frames out of a
// mostly dead one. It reports whether there is more to do at once.
func (w *writer) moveOn() (more bool) {
	w.retire(true)
	if len(w.moving) == 0 {
		w.moving = w.planMoves()
	}
	if len(w.moving) == 0 {
		return false
	}
	for copied := int64(0); len(w.moving) > 0 && copied < copyForwardStep; {
		m := w.moving[0]
		w.moving = w.moving[1:]
		if !w.copyFrame(m) {
			w.moving = nil
			return false
		}
		copied += m.loc.Size()
	}
	return true
}

// retire has segments in which nothing is live used again, removed, or set aside
// if something in them is damaged.
func (w *writer) retire(reuse bool) {
	old := w.log.Old()
	w.mu.Lock()
	dead := slices.DeleteFunc(old, func(id uint64) bool { return w.st.live[id] > 0 })
	sound := slices.DeleteFunc(slices.Clone(dead), func(id uint64) bool { return w.st.damaged[id] })
	w.mu.Unlock()
	w.log.Retire(sound, reuse)
	for _, id := range dead {
		if !slices.Contains(sound, id) && !w.stuck[id] {
			w.setAside(id)
		}
	}
}

// setAside sets a damaged segment aside. One that can't be moved stays, and the
// next start tries again.
func (w *writer) setAside(id uint64) {
	if err := w.log.SetAside(id); err != nil {
		w.stuck[id] = true
		w.logger.Error("journal: a damaged segment can't be set aside; it stays where it is", "segment", log.SegmentName(id),
			"error", err, "do", "check the disk")
		return
	}
	w.mu.Lock()
	delete(w.st.damaged, id)
	w.mu.Unlock()
}

// move is a live frame to be copied forward.
type move struct {
	seq uint64 // of the chunk
	loc log.Location
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
func (w *writer) planMoves() []move {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sparse []uint64
	for id, live := range w.st.live {
		if id == w.log.Current() || w.immovable[id] || live*liveShare > w.log.Info(id).Room {
			continue
		}
		if w.log.HasSpare() || live <= w.log.Room() {
			sparse = append(sparse, id)
		}
	}
	if len(sparse) <= slackSegments {
		return nil
	}
	slices.Sort(sparse)
	for _, id := range sparse {
		if moves := w.liveFramesLocked(id); len(moves) > 0 {
			return moves
		}
		w.immovable[id] = true
	}
	return nil
}

// liveFramesLocked are the live frames of a segment that can be read, in their
// order.
func (w *writer) liveFramesLocked(segment uint64) (moves []move) {
	for seq, c := range w.st.chunks {
		if c.loc.Segment == segment && !w.unread[c.loc] {
			moves = append(moves, move{seq, c.loc})
		}
	}
	slices.SortFunc(moves, func(a, b move) int { return cmp.Compare(a.loc.Offset, b.loc.Offset) })
	return moves
}

// copyFrame appends a live frame again. It reports whether the journal still
// takes frames.
func (w *writer) copyFrame(m move) bool {
	w.mu.Lock()
	c := w.st.chunks[m.seq]
	w.mu.Unlock()
	if c == nil || c.loc != m.loc {
		return true // it died meanwhile
	}
	payload, err := w.log.Read(m.loc, w.moveBuf)
	var f Frame
	if err == nil {
		f, err = decodeFrame(KindChunk, payload)
	}
	if err != nil {
		w.unread[m.loc] = true
		w.logger.Error("journal: a live frame can't be copied forward; its segment stays",
			"segment", log.SegmentName(m.loc.Segment), "error", err, "do", "check the disk")
		return true
	}
	r := newRequest()
	r.add(f, payload)
	w.commit([]*request{r})
	if cap(payload) <= copyForwardStep {
		w.moveBuf = payload[:0]
	}
	return r.wait() == nil
}
