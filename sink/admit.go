package sink

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// admission decides whether there is room for another chunk, and says once
// when there isn't and once when there is again.
type admission struct {
	mu      sync.Mutex
	refused error // why the last chunk was refused, nil if it wasn't
}

// errStateFull is why a chunk isn't admitted.
var errStateFull = errors.New("state_limit is reached")

// reserve is what chunks leave of state_limit to the frames and staged parts
// that finish the work already accepted.
func (s *Sink) reserve() int64 { return min(s.cfg.StateLimit/8, 256<<20) }

func (s *Sink) hasRoom(size int64) bool {
	return s.journal.Usage()+s.staged.Load()+size <= s.cfg.StateLimit-s.reserve()
}

// admitPoll is how often a waiting flush looks again; space comes from parts
// being published and segments dying, which nobody announces.
const admitPoll = 20 * time.Millisecond

// wait waits up to flush_timeout for room. While it waits, in-progress parts
// are rolled, oldest first, since what they hold pins the journal.
func (a *admission) wait(s *Sink, size int64, noWait bool) bool {
	if s.hasRoom(size) {
		return true
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.FlushTimeout)
	defer cancel()
	for {
		s.apply.relieve()
		if noWait || ctx.Err() != nil || s.closing.Load() {
			a.failed(s, errStateFull)
			return false
		}
		sleep(ctx, admitPoll)
		if s.hasRoom(size) {
			return true
		}
	}
}

// failed says, once per change, that chunks are refused.
func (a *admission) failed(s *Sink, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused == nil && !errors.Is(err, journal.ErrClosed) {
		s.log.Error("chunks are refused: Fluent Bit keeps them and delivers them again",
			"error", err, "state_dir", s.cfg.StateDir, "state_limit", s.cfg.StateLimit,
			"journal", s.journal.Usage(), "staged", s.staged.Load(), "target", s.cfg.Target,
			"do", "restore the target if it is away, make room on the disk, or raise state_limit")
	}
	a.refused = err
}

func (a *admission) ok(s *Sink) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused != nil {
		s.log.Info("chunks are accepted again", "was", a.refused)
		a.refused = nil
	}
}
