package bucket

import (
	"context"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/rolling"
)

// This file is the one place where a part is rolled, and every way to it says
// why. Nothing else calls roll.

// afterShare asks whether a part that a share was just written to is rolled.
func (s *Stage) afterShare(ctx context.Context, p *part) {
	switch {
	case p.records == 0:
	case p.full():
		s.roll(ctx, p, rolling.ShareList)
	default:
		s.rollFor(ctx, p, s.cfg.Policy.RollOnEvent(p.info()))
	}
}

// afterChunk asks the policy about a bucket's part once all of a chunk that went
// there is written.
func (s *Stage) afterChunk(ctx context.Context, bucket string) {
	if p := s.parts[bucket]; p != nil && p.records > 0 {
		s.rollFor(ctx, p, s.cfg.Policy.RollOnCheckpoint(p.info()))
	}
}

// rollOld asks the policy about the time, and drops parts without records.
func (s *Stage) rollOld(ctx context.Context, now time.Time) {
	for _, p := range s.parts {
		if p.records == 0 {
			s.drop(p)
			continue
		}
		s.rollFor(ctx, p, s.cfg.Policy.RollOnTimer(p.info(), now))
	}
}

// room reports whether another chunk may be applied. Beyond state_limit all
// that is in progress is rolled, and nothing is added as long as something may
// still be published and make room.
func (s *Stage) room(ctx context.Context) bool {
	if !s.full() {
		return true
	}
	s.rollAllBut(ctx, nil, rolling.StateLimit)
	return s.sealer.idle() && s.down.Idle()
}

// keepLimits rolls least recently written parts while max_open_buckets,
// memory_limit or the number of files that may be open is exceeded.
func (s *Stage) keepLimits(ctx context.Context) {
	for {
		var why rolling.Reason
		switch {
		case len(s.parts) > max(1, s.cfg.MaxOpen):
			why = rolling.MaxOpenBuckets
		case len(s.parts) > s.mostOpen():
			why = rolling.OpenFiles
		case len(s.parts) > 1 && s.buffered > s.cfg.OpenMemory:
			why = rolling.MemoryLimit
		default:
			return
		}
		s.rollLeastRecent(ctx, why)
	}
}

// mostOpen is how many in-progress parts may have a file open: what the parts
// may have open less what those that wait to be sealed keep.
func (s *Stage) mostOpen() int { return max(1, s.cfg.OpenFiles()-s.mostRolled()) }

// mostRolled bounds the parts that wait to be sealed, since each keeps a file
// open and a buffer. The applier waits beyond it.
func (s *Stage) mostRolled() int { return min(maxRolled, max(1, s.cfg.OpenFiles()/4)) }

// RollPinning asks that the part be rolled that pins the journal longest. It
// doesn't wait for that.
func (s *Stage) RollPinning() {
	select {
	case s.pinned <- struct{}{}:
	default:
	}
}

// RollAll rolls every in-progress part for a stop, and reports whether that was
// done before ctx, or the stage, ended.
func (s *Stage) RollAll(ctx context.Context) bool {
	return s.ask(ctx, func() { s.rollAllBut(ctx, nil, rolling.Stop) })
}

// rollLeastRecent rolls the part that was written least recently.
func (s *Stage) rollLeastRecent(ctx context.Context, why rolling.Reason) {
	s.rollLeast(ctx, why, func(x, y *part) bool { return x.last.Before(y.last) })
}

// rollLeast rolls the part that is before all others, if there is one.
func (s *Stage) rollLeast(ctx context.Context, why rolling.Reason, before func(x, y *part) bool) {
	var least *part
	for _, p := range s.parts {
		if least == nil || before(p, least) {
			least = p
		}
	}
	if least != nil {
		s.roll(ctx, least, why)
	}
}

// rollAllBut rolls every part except one, or every part if that is nil.
func (s *Stage) rollAllBut(ctx context.Context, except *part, why rolling.Reason) {
	for _, p := range s.parts {
		if p != except {
			s.roll(ctx, p, why)
		}
	}
}

// rollFor rolls the part if there is a reason to.
func (s *Stage) rollFor(ctx context.Context, p *part, why rolling.Reason) {
	if why != rolling.None {
		s.roll(ctx, p, why)
	}
}

// roll hands the part to the sealers. One without records is dropped.
func (s *Stage) roll(ctx context.Context, p *part, why rolling.Reason) {
	if p.records == 0 {
		s.drop(p)
		return
	}
	s.remove(p)
	p.reason = why
	s.rolls.count(why)
	s.sealer.push(ctx, p, s.mostRolled(), s.cfg.SealMemory)
}

// drop gives up a part without records.
func (s *Stage) drop(p *part) {
	s.remove(p)
	s.staging.Drop(p.file)
}

// remove takes the part out of the buckets.
func (s *Stage) remove(p *part) {
	delete(s.parts, p.bucket)
	s.buffered -= p.counted
}

// counters count the parts that were rolled, by reason.
type counters struct {
	mu sync.Mutex
	n  map[rolling.Reason]uint64
}

func (c *counters) count(r rolling.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[rolling.Reason]uint64{}
	}
	c.n[r]++
}

// Rolls is how many parts were rolled since the start, by the word of the
// reason; reasons that didn't occur are left out.
func (s *Stage) Rolls() map[string]uint64 {
	s.rolls.mu.Lock()
	defer s.rolls.mu.Unlock()
	out := map[string]uint64{}
	for r, n := range s.rolls.n {
		out[r.String()] = n
	}
	return out
}
