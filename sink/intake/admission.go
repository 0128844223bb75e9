package intake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// admission decides whether there is room for another chunk, and says once
// when there isn't and once when there is again.
type admission struct {
	flying atomic.Int64 // bytes of chunks admitted and not yet answered

	mu      sync.Mutex
	refused error     // why chunks are refused, nil if they aren't
	last    time.Time // of the latest refusal
}

// errStateFull is why a chunk isn't admitted.
var errStateFull = errors.New("state_limit is reached")

// reserve is what chunks leave of state_limit to the frames and staged parts
// that finish the work already accepted.
func (i *Intake) reserve() int64 { return min(i.StateLimit/8, 256<<20) }

// enter reports whether there is room for a chunk, and if so reserves it until
// leave: of several flushes at a time each sees the others.
func (i *Intake) enter(size int64) bool {
	if i.Used()+i.admission.flying.Add(size) <= i.StateLimit-i.reserve() {
		return true
	}
	i.admission.leave(size)
	return false
}

func (a *admission) leave(size int64) { a.flying.Add(-size) }

// roomPoll is how often whoever waits for room looks again; it comes from
// parts being published and segments dying, which nobody announces.
const roomPoll = 20 * time.Millisecond

// waitForRoom waits up to flush_timeout for room, and reports whether the caller
// has entered. While it waits, in-progress parts are rolled, oldest first, since
// what they hold pins the journal.
func (i *Intake) waitForRoom(ctx context.Context, size int64, noWait bool) bool {
	if i.enter(size) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, i.FlushTimeout)
	defer cancel()
	for {
		i.RollPinning()
		if noWait || ctx.Err() != nil || i.closing.Load() {
			i.refused(fmt.Errorf("%w: there is no room for a chunk of %d bytes", errStateFull, size))
			return false
		}
		run.Sleep(ctx, roomPoll)
		if i.enter(size) {
			return true
		}
	}
}

// refused says, once per change, that chunks are refused. A sink that is being
// closed refuses them for that reason, and nothing is wrong then.
func (i *Intake) refused(err error) {
	if i.closing.Load() || errors.Is(err, journal.ErrClosed) {
		return
	}
	a := &i.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused == nil {
		i.Log.Error("chunks are refused: Fluent Bit keeps them and delivers them again",
			"error", err, "state_dir", i.StateDir, "state_limit", i.StateLimit,
			"journal", i.Journal.Usage(), "staged", i.Staged(), "target", i.Target,
			"do",
			openfiles.Advice(err, "restore the target if it is away, make room on the disk, or raise state_limit"))
	}
	a.refused, a.last = err, time.Now()
}

// acceptedFor is how long no chunk may have been refused before it is told that
// chunks are accepted again. At the limit each published part lets some in, and
// the next one is refused: without the wait both lines would alternate.
const acceptedFor = 10 * time.Second

func (i *Intake) accepted() {
	a := &i.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused != nil && time.Since(a.last) >= acceptedFor {
		i.Log.Info("chunks are accepted again", "was", a.refused)
		a.refused = nil
	}
}
