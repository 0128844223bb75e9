package sink

import (
	"context"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// item is a chunk to be decoded.
type item struct {
	seq     uint64
	size    int64
	tag     string    // valid with payload
	arrival time.Time // valid with payload
	// payload is nil if the chunk is to be read back from the journal.
	payload *buffer
	// only restricts the chunk to these records, which a part that could not be
	// finished held. nil means every record that is in no rolled part.
	only *journal.Coverage
	// alone is set for a chunk that a process died over: it is decoded with no
	// other beside it.
	alone bool
	// failed is how many parts in a row that held these records the format
	// could not finish, and why the last one.
	failed int
	why    string
}

// queue holds accepted chunks in their order. It is bounded by state_limit:
// what it refers to is in the journal.
type queue struct {
	notice
	lock  sync.Mutex
	items []item
	busy  map[uint64]int // items taken and not done, by sequence
	later int            // items that will be pushed again
}

func (q *queue) push(items ...item) {
	q.lock.Lock()
	q.items = append(q.items, items...)
	q.lock.Unlock()
	q.change()
}

// take waits for items and takes up to n. An item that is to be decoded alone
// is taken by itself, and when nothing is busy.
func (q *queue) take(ctx context.Context, n int) []item {
	var out []item
	q.waitFor(ctx, func() bool {
		q.lock.Lock()
		defer q.lock.Unlock()
		out = q.takeLocked(n)
		return len(out) > 0
	})
	return out // also if ctx ended just now: what was taken is the caller's
}

func (q *queue) takeLocked(n int) []item {
	if len(q.items) == 0 {
		return nil
	}
	if q.items[0].alone {
		if len(q.busy) > 0 {
			return nil
		}
		n = 1
	}
	k := 0
	for k < min(n, len(q.items)) && (k == 0 || !q.items[k].alone) {
		k++
	}
	out := append([]item(nil), q.items[:k]...)
	clear(q.items[:k])
	if q.items = q.items[k:]; len(q.items) == 0 {
		q.items = nil
	}
	if q.busy == nil {
		q.busy = map[uint64]int{}
	}
	for _, it := range out {
		q.busy[it.seq]++
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
func (q *queue) pushExpected(items []item) {
	q.lock.Lock()
	q.later -= len(items)
	q.items = append(q.items, items...)
	q.lock.Unlock()
	q.change()
}

// finish says that a taken item was applied or given up.
func (q *queue) finish(seq uint64) {
	q.lock.Lock()
	if q.busy[seq]--; q.busy[seq] <= 0 {
		delete(q.busy, seq)
	}
	q.lock.Unlock()
	q.change()
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

// waitIdle waits until every chunk was applied.
func (q *queue) waitIdle(ctx context.Context) bool { return q.waitFor(ctx, q.idle) }
