package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
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
func (s *Sink) reserve() int64 { return min(s.cfg.StateLimit/8, 256<<20) }

// used is what state_limit bounds.
func (s *Sink) used() int64 { return s.journal.Usage() + s.staged.Load() }

// enter reports whether there is room for a chunk, and if so reserves it until
// leave: of several flushes at a time each sees the others.
func (a *admission) enter(s *Sink, size int64) bool {
	if s.used()+a.flying.Add(size) <= s.cfg.StateLimit-s.reserve() {
		return true
	}
	a.leave(size)
	return false
}

func (a *admission) leave(size int64) { a.flying.Add(-size) }

// roomPoll is how often whoever waits for room looks again; it comes from
// parts being published and segments dying, which nobody announces.
const roomPoll = 20 * time.Millisecond

// wait waits up to flush_timeout for room, and reports whether the caller has
// entered. While it waits, in-progress parts are rolled, oldest first, since
// what they hold pins the journal.
func (a *admission) wait(s *Sink, size int64, noWait bool) bool {
	if a.enter(s, size) {
		return true
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.FlushTimeout)
	defer cancel()
	for {
		s.apply.relieve()
		if noWait || ctx.Err() != nil || s.closing.Load() {
			a.failed(s, fmt.Errorf("%w: there is no room for a chunk of %d bytes", errStateFull, size))
			return false
		}
		sleep(ctx, roomPoll)
		if a.enter(s, size) {
			return true
		}
	}
}

// failed says, once per change, that chunks are refused. A sink that is being
// closed refuses them for that reason, which is no trouble.
func (a *admission) failed(s *Sink, err error) {
	if s.closing.Load() || errors.Is(err, journal.ErrClosed) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused == nil {
		s.log.Error("chunks are refused: Fluent Bit keeps them and delivers them again",
			"error", err, "state_dir", s.cfg.StateDir, "state_limit", s.cfg.StateLimit,
			"journal", s.journal.Usage(), "staged", s.staged.Load(), "target", s.cfg.Target,
			"do", "restore the target if it is away, make room on the disk, or raise state_limit")
	}
	a.refused, a.last = err, time.Now()
}

// calm is how long no chunk must have been refused before that is told: at the
// limit each published part lets some in, and the next is refused again.
const calm = 10 * time.Second

func (a *admission) ok(s *Sink) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused != nil && time.Since(a.last) >= calm {
		s.log.Info("chunks are accepted again", "was", a.refused)
		a.refused = nil
	}
}
