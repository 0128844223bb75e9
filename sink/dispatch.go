package sink

import (
	"context"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

const (
	// groupSize is how many chunks one decoding frame announces at most.
	groupSize = 8
	// settleAfter is how long the pipeline is idle before the journal hears
	// that nothing is being decoded: a busy one says so with the next group.
	settleAfter = 200 * time.Millisecond
	// maxDeaths is after how many process deaths in a row a chunk is held.
	maxDeaths = 3
)

// dispatcher takes chunks in their order and hands them to the workers and, as
// promises in the same order, to the applier.
type dispatcher struct {
	jobs    chan *job // to the workers
	ordered chan *job // to the applier; its capacity bounds the pipeline
	// announced is true while the last decoding frame named chunks.
	announced bool
}

func (d *dispatcher) start(s *Sink) {
	d.jobs = make(chan *job)
	d.ordered = make(chan *job, s.cfg.Workers+1)
	for range s.cfg.Workers {
		s.goRun("worker", func(ctx context.Context) { newWorker(s).run(ctx) })
	}
	s.goRun("dispatcher", func(ctx context.Context) { d.run(ctx, s) })
}

func (d *dispatcher) run(ctx context.Context, s *Sink) {
	for ctx.Err() == nil {
		group := d.next(ctx, s)
		if group = d.admit(group, s); len(group) == 0 {
			continue
		}
		if !d.announce(ctx, s) {
			return
		}
		for _, it := range group {
			j := &job{item: it, done: make(chan struct{})}
			if !send(ctx, d.ordered, j) || !send(ctx, d.jobs, j) {
				return
			}
		}
	}
}

func send(ctx context.Context, c chan<- *job, j *job) bool {
	select {
	case c <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// next takes the next group, and tells the journal when there is none for a
// while and nothing is in hand.
func (d *dispatcher) next(ctx context.Context, s *Sink) []item {
	if !d.announced {
		return s.queue.take(ctx, groupSize)
	}
	short, cancel := context.WithTimeout(ctx, settleAfter)
	defer cancel()
	if group := s.queue.take(short, groupSize); len(group) > 0 {
		return group
	}
	if ctx.Err() == nil && len(s.queue.inHand()) == 0 {
		// Nobody waits for it: if it fails, the next start counts a death too
		// many, which the chunk's decoding alone undoes.
		d.announced = s.journal.Append(journal.Decoding{}) != nil
	}
	return nil
}

// admit drops what isn't to be decoded: chunks that are held.
func (d *dispatcher) admit(group []item, s *Sink) []item {
	kept := group[:0]
	for _, it := range group {
		c, live := s.journal.Chunk(it.seq)
		if live && c.Deaths >= maxDeaths {
			s.log.Error("a chunk is held: the process died three times in a row while decoding it",
				"chunk", it.seq, "bytes", c.Length, "state_dir", s.cfg.StateDir,
				"do", "`out-hdfs resolve` sends it to the dead letters, or decodes it once more")
		}
		if !live || c.Deaths >= maxDeaths {
			s.memory.release(it.payload)
			s.queue.finish(it.seq)
			continue
		}
		kept = append(kept, it)
	}
	return kept
}

// announce journals what is about to be decoded, until that succeeds.
func (d *dispatcher) announce(ctx context.Context, s *Sink) bool {
	d.announced = true
	return s.append(ctx, journal.Decoding{Seqs: s.queue.inHand()})
}

// append appends frames until that succeeds, and reports false if ctx ended
// first. The journal says itself, through refused chunks, that it is broken.
func (s *Sink) append(ctx context.Context, frames ...journal.Frame) bool {
	var b backoff
	for ctx.Err() == nil {
		err := s.journal.Append(frames...)
		if err == nil {
			return true
		}
		if b.failures == 0 {
			s.log.Error("the journal can't be written; trying again", "state_dir", s.cfg.StateDir, "error", err)
		}
		sleep(ctx, b.next())
	}
	return false
}
