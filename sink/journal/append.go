package journal

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrLate is the error of a chunk that wasn't durable in time.
var ErrLate = errors.New("the disk of the state directory took too long: check it")

// Accepted is an accepted chunk's place in the journal.
type Accepted struct {
	Seq uint64
	// Known is true if the same chunk was accepted before: there is nothing
	// more to do for it, and Seq is 0.
	Known bool
}

// AppendChunk accepts a chunk and returns once it is durable, or with ErrLate
// when ctx ends. data must not change until then; after ErrLate not until late
// was called.
//
// If o isn't zero and a chunk of that origin was accepted before, nothing is
// written and the answer is Known. Concurrent calls with one origin accept it
// once. After an error the chunk is void, and a later call with its origin is
// new.
//
// The exception is ErrLate. A chunk that the writer hadn't taken is void. What
// becomes of one that the writer has isn't known before its disk answers. If it
// has an origin and becomes durable it is accepted, so that a later call with
// its origin is answered Known. If it has none it is voided then, since it could
// not be told from the same chunk when that comes again. late is called once,
// after ErrLate alone, with the chunk if it was accepted in the end, else with
// the error; perhaps before AppendChunk returns. It must not wait.
func (j *Journal) AppendChunk(ctx context.Context, tag string, arrival time.Time, o Origin, data []byte, late func(Accepted, error)) (Accepted, error) {
	for {
		own, other, seq, err := j.enqueueChunk(tag, arrival, o, data)
		switch {
		case err != nil:
			return Accepted{}, err
		case own != nil:
			return j.awaitOwn(ctx, own, Accepted{Seq: seq}, late)
		case other == nil:
			return Accepted{Known: true}, nil
		}
		select {
		case err := <-other.done:
			other.done <- err
			if err == nil {
				return Accepted{Known: true}, nil
			}
			// The same chunk was being appended and is void: this one is new.
		case <-ctx.Done():
			late(Accepted{}, ErrLate) // nothing reads data
			return Accepted{}, ErrLate
		}
	}
}

// awaitOwn waits for the chunk's request, and gives up when ctx ends.
func (j *Journal) awaitOwn(ctx context.Context, r *request, a Accepted, late func(Accepted, error)) (Accepted, error) {
	select {
	case err := <-r.done:
		r.done <- err
		return answer(a, err)
	case <-ctx.Done():
	}
	if j.leave(r, func(err error) { late(answer(a, err)) }) {
		return Accepted{}, ErrLate
	}
	return answer(a, r.wait())
}

func answer(a Accepted, err error) (Accepted, error) {
	if err != nil {
		return Accepted{}, err
	}
	return a, nil
}

// leave gives a chunk's request up: it is withdrawn from the queue, or, if the
// writer has it, late is called when it is settled. It reports false if it is
// settled already.
func (j *Journal) leave(r *request, late func(error)) bool {
	j.mu.Lock()
	if r.settled {
		j.mu.Unlock()
		return false
	}
	c := r.chunkFrame()
	if i := slices.Index(j.queue, r); i >= 0 {
		j.queue = slices.Delete(j.queue, i, i+1)
		j.settleLocked(r)
		j.mu.Unlock()
		r.answer(ErrLate)
		late(ErrLate)
		return true
	}
	r.late = late
	r.void = c.origin.Name == ""
	j.mu.Unlock()
	return true
}

// chunkFrame is the frame of a chunk's request. One that notes its directory may
// come before it.
func (r *request) chunkFrame() *chunkFrame { return r.frames[len(r.frames)-1].(*chunkFrame) }

// settleLocked ends what the request holds in the journal.
func (j *Journal) settleLocked(r *request) {
	r.settled = true
	if !r.chunk {
		return
	}
	if c := r.chunkFrame(); c.origin.Name != "" {
		delete(j.inflight, c.origin.key())
	}
}

// voidLocked queues the end of a chunk that became durable after its caller had
// left. It comes before what else is queued, and also while the journal closes.
func (j *Journal) voidLocked(seq uint64) {
	v := newRequest()
	f := Void{seq}
	v.add(f, f.encode(nil))
	j.queue = slices.Insert(j.queue, 0, v)
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
	if o.Name != "" && j.st.notes(o) {
		noted := &directoryFrame{originDir{o.Dir, o.In}}
		own.add(noted, noted.encode(nil))
	}
	own.add(f, f.encode(nil), data)
	if err := j.enqueueLocked(own); err != nil {
		return nil, nil, 0, err
	}
	j.st.nextSeq++
	if o.Name != "" {
		j.inflight[key] = own
	}
	return own, nil, seq, nil
}
