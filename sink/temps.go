package sink

import (
	"context"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// lateEffect is how long a temp that was missing after an unclear answer may
// still appear: a create that a cut connection left in the target's queue.
const lateEffect = time.Minute

// attempts remembers when this process last heard of a temp, and whether its
// creation can still take effect. A temp of an earlier process counts from the
// first time it is asked about.
type attempts struct {
	lock  sync.Mutex
	known map[string]attempt
}

type attempt struct {
	at    time.Time
	clear bool // nothing can appear under the name any more
}

// note remembers the answer to a temp's creation.
func (a *attempts) note(temp string, c fs.Class) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.noteLocked(temp, c != fs.Unclear)
}

func (a *attempts) noteLocked(temp string, clear bool) {
	if a.known == nil {
		a.known = map[string]attempt{}
	}
	a.known[temp] = attempt{at: time.Now(), clear: clear}
}

// gone reports whether a temp that was missing just now stays so.
func (a *attempts) gone(temp string) bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	t, ok := a.known[temp]
	if !ok {
		a.noteLocked(temp, false)
		return false
	}
	return t.clear || time.Since(t.at) >= lateEffect
}

// forget ends the memory of a temp that the journal lists no more.
func (a *attempts) forget(temp string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	delete(a.known, temp)
}

// removeTemp removes a temp of ours and journals that it is gone, once that is
// sure. A temp that is missing but may still appear stays listed.
func (s *Sink) removeTemp(ctx context.Context, target *fs.Client, f journal.Abandoned) error {
	err := target.Discard(ctx, f.Temp)
	if err != nil && fs.ClassOf(err) != fs.Missing {
		return err
	}
	if err != nil && !s.attempts.gone(f.Temp) {
		return nil
	}
	if !s.append(ctx, f) {
		return ctx.Err()
	}
	s.attempts.forget(f.Temp)
	return nil
}

// sweepEvery is how often leftovers are looked after and chunk files that are
// gone are noted.
const sweepEvery = time.Minute

// every calls f at once and then every sweepEvery, until ctx ends.
func every(ctx context.Context, f func(ctx context.Context)) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		f(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// watchLeftovers removes temps of finished parts. It ends with ctx.
func (s *Sink) watchLeftovers(ctx context.Context) { every(ctx, s.removeLeftovers) }

// removeLeftovers tries each leftover once, but none of a target in trouble:
// that would only wait for it.
func (s *Sink) removeLeftovers(ctx context.Context) {
	for _, l := range s.journal.Leftovers() {
		if ctx.Err() != nil {
			return
		}
		if s.upload.inTrouble(l.Target) {
			continue
		}
		target, err := s.upload.open(ctx, l.Target)
		if err == nil {
			err = s.removeTemp(ctx, target, journal.Abandoned{Target: l.Target, Temp: l.Temp})
		}
		if err != nil && ctx.Err() == nil {
			s.log.Debug("a leftover temp file can't be removed yet", "target", l.Target, "file", l.Temp, "error", err)
		}
	}
}

// watchOrigins lets the journal forget chunks whose files are gone. It ends
// with ctx.
func (s *Sink) watchOrigins(ctx context.Context) { every(ctx, s.sweepOrigins) }

func (s *Sink) sweepOrigins(context.Context) {
	for _, dir := range s.journal.OriginDirs() {
		// What can't be listed is taken to exist.
		if err := s.journal.MarkGone(dir, func() ([]string, error) { return s.cfg.ChunkFiles(dir) }); err != nil {
			s.log.Debug("chunk files that are gone could not be noted", "directory", dir, "error", err)
		}
	}
}
