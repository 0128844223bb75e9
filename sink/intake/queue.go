package intake

import (
	"context"
	"sync"

	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// queue holds accepted chunks in their order. It is bounded by state_limit:
// what it refers to is in the journal.
type queue struct {
	run.Notice
	lock  sync.Mutex
	items []chunk.Owed
	busy  map[uint64]int // items taken and not done, by sequence
	later int            // items that will be pushed again
}

func (q *queue) push(owed ...chunk.Owed) {
	q.lock.Lock()
	q.items = append(q.items, owed...)
	q.lock.Unlock()
	q.Change()
}

// take waits for items and takes up to n. An item that is to be decoded alone
// is taken by itself, and when nothing is busy.
func (q *queue) take(ctx context.Context, n int) []chunk.Owed {
	var out []chunk.Owed
	q.WaitFor(ctx, func() bool {
		q.lock.Lock()
		defer q.lock.Unlock()
		out = q.takeLocked(n)
		return len(out) > 0
	})
	return out // also if ctx ended just now: what was taken is the caller's
}

func (q *queue) takeLocked(n int) []chunk.Owed {
	if len(q.items) == 0 {
		return nil
	}
	if q.items[0].Alone {
		if len(q.busy) > 0 {
			return nil
		}
		n = 1
	}
	k := 0
	for k < min(n, len(q.items)) && (k == 0 || !q.items[k].Alone) {
		k++
	}
	out := append([]chunk.Owed(nil), q.items[:k]...)
	clear(q.items[:k])
	if q.items = q.items[k:]; len(q.items) == 0 {
		q.items = nil
	}
	if q.busy == nil {
		q.busy = map[uint64]int{}
	}
	for _, o := range out {
		q.busy[o.Seq]++
	}
	return out
}

// expect announces items that pushExpected will push.
func (q *queue) expect(n int) {
	q.lock.Lock()
	q.later += n
	q.lock.Unlock()
}

// pushExpected pushes announced items.
func (q *queue) pushExpected(items []chunk.Owed) {
	q.lock.Lock()
	q.later -= len(items)
	q.items = append(q.items, items...)
	q.lock.Unlock()
	q.Change()
}

// finish says that a taken item was applied or given up.
func (q *queue) finish(seq uint64) {
	q.lock.Lock()
	if q.busy[seq]--; q.busy[seq] <= 0 {
		delete(q.busy, seq)
	}
	q.lock.Unlock()
	q.Change()
}

// inHand are the sequences taken and not done.
func (q *queue) inHand() []uint64 {
	q.lock.Lock()
	defer q.lock.Unlock()
	out := make([]uint64, 0, len(q.busy))
	for seq := range q.busy {
		out = append(out, seq)
	}
	return out
}

func (q *queue) idle() bool {
	q.lock.Lock()
	defer q.lock.Unlock()
	return len(q.items) == 0 && len(q.busy) == 0 && q.later == 0
}
