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
	// group is what was taken and isn't handed out yet; it outlives a panic.
	group []item
	// announced is true while the last decoding frame named chunks.
	announced bool
	// alone is true while a chunk is out that is to be decoded alone.
	alone bool
}

func (d *dispatcher) init(s *Sink) {
	d.jobs = make(chan *job)
	d.ordered = make(chan *job, max(1, s.cfg.Workers)+1)
}

func (d *dispatcher) start(s *Sink) {
	for range max(1, s.cfg.Workers) {
		s.goRun(&s.local, "worker", func(ctx context.Context) { newWorker(s).run(ctx) })
	}
	s.goRun(&s.local, "dispatcher", func(ctx context.Context) { d.run(ctx, s) })
}

func (d *dispatcher) run(ctx context.Context, s *Sink) {
	for ctx.Err() == nil {
		if len(d.group) == 0 {
			d.group = d.next(ctx, s)
		}
		if d.group = dropDead(d.group, s); len(d.group) == 0 {
			continue
		}
		if !d.announce(ctx, s) {
			return
		}
		for len(d.group) > 0 {
			j := &job{item: d.group[0], done: make(chan struct{})}
			d.group = d.group[1:]
			d.alone = j.alone
			// The applier first: it waits for done, so the order is the chunks'.
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
	if d.alone {
		// Nothing is taken beside it, and the journal hears at once that it is
		// done: a death that comes a little later isn't its fault.
		if !s.queue.waitFor(ctx, func() bool { return len(s.queue.inHand()) == 0 }) {
			return nil
		}
		d.settle(s)
		d.alone = false
	}
	if !d.announced {
		return s.queue.take(ctx, groupSize)
	}
	short, cancel := context.WithTimeout(ctx, settleAfter)
	defer cancel()
	if group := s.queue.take(short, groupSize); len(group) > 0 {
		return group
	}
	if ctx.Err() == nil && len(s.queue.inHand()) == 0 {
		d.settle(s)
	}
	return nil
}

// settle tells the journal that nothing is being decoded. Nobody waits for it:
// if it fails it is repeated when the pipeline is idle again, and at worst the
// next start counts a death too many, which the chunk's decoding alone undoes.
func (d *dispatcher) settle(s *Sink) {
	if d.announced {
		d.announced = s.journal.Append(journal.Decoding{}) != nil
	}
}

// dropDead drops chunks of which nothing is owed any more.
func dropDead(group []item, s *Sink) []item {
	kept := group[:0]
	for _, it := range group {
		if _, live := s.journal.Chunk(it.seq); live {
			kept = append(kept, it)
			continue
		}
		s.memory.release(it.payload)
		s.queue.finish(it.seq)
	}
	return kept
}

// announce journals what is about to be decoded, until that succeeds.
func (d *dispatcher) announce(ctx context.Context, s *Sink) bool {
	d.announced = true
	return s.append(ctx, journal.Decoding{Seqs: s.queue.inHand()})
}
