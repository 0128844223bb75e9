package intake

import (
	"context"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

const (
	// groupSize is how many chunks one decoding frame announces at most.
	groupSize = 8
	// idleAfter is how long nothing is decoded before the journal hears so: a
	// busy pipeline says it with the next group.
	idleAfter = 200 * time.Millisecond
)

// dispatcher is what the dispatching goroutine knows. It outlives a panic of
// that goroutine.
type dispatcher struct {
	group []chunk.Owed // taken, and not handed on yet
	// announced is true while the last decoding frame named chunks.
	announced bool
	// alone is true while a chunk is out that is decoded alone.
	alone bool
}

// dispatch takes chunks in their order and hands them on.
func (i *Intake) dispatch(ctx context.Context) {
	d := &i.dispatcher
	for ctx.Err() == nil {
		if len(d.group) == 0 {
			d.group = i.next(ctx)
		}
		if d.group = i.dropFinished(d.group); len(d.group) == 0 {
			continue
		}
		if !i.announce(ctx) {
			return
		}
		for len(d.group) > 0 {
			o := d.group[0]
			room := i.Work.Enter(ctx, o.Memory())
			if room == nil {
				return
			}
			d.group = d.group[1:]
			d.alone = o.Alone
			if !i.Encode.Submit(ctx, o, room) {
				return
			}
		}
	}
}

// next takes the next group, and tells the journal when there is none for a
// while and nothing is in hand.
func (i *Intake) next(ctx context.Context) []chunk.Owed {
	d := &i.dispatcher
	if d.alone {
		// Nothing is taken beside it, and the journal hears at once that it is
		// done: a death that comes a little later isn't its fault.
		if !i.queue.WaitFor(ctx, func() bool { return len(i.queue.inHand()) == 0 }) {
			return nil
		}
		i.TellIdle()
		d.alone = false
	}
	if !d.announced {
		return i.queue.take(ctx, groupSize)
	}
	short, cancel := context.WithTimeout(ctx, idleAfter)
	defer cancel()
	if group := i.queue.take(short, groupSize); len(group) > 0 {
		return group
	}
	if ctx.Err() == nil && len(i.queue.inHand()) == 0 {
		i.TellIdle()
	}
	return nil
}

// TellIdle tells the journal that nothing is being decoded, for the dispatcher
// or once its goroutine has ended. Nobody waits for it: if it fails it is
// repeated when the pipeline is idle again, and at worst the next start counts a
// death too many, which the chunk's decoding alone undoes.
func (i *Intake) TellIdle() {
	if i.dispatcher.announced {
		i.dispatcher.announced = i.Journal.Append(journal.Decoding{}) != nil
	}
}

// dropFinished drops chunks of which nothing is owed any more.
func (i *Intake) dropFinished(group []chunk.Owed) []chunk.Owed {
	kept := group[:0]
	for _, o := range group {
		if _, live := i.Journal.Chunk(o.Seq); live {
			kept = append(kept, o)
			continue
		}
		i.Memory.Release(o.Payload)
		i.queue.finish(o.Seq)
	}
	return kept
}

// announce journals what is about to be decoded, until that succeeds.
func (i *Intake) announce(ctx context.Context) bool {
	i.dispatcher.announced = true
	return i.Recorder.Record(ctx, journal.Decoding{Seqs: i.queue.inHand()})
}
