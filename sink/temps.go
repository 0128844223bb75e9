package sink

import (
	"context"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

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

func (s *Sink) noteAttempt(temp string, c fs.Class) {
	s.attempts.lock.Lock()
	defer s.attempts.lock.Unlock()
	if s.attempts.known == nil {
		s.attempts.known = map[string]attempt{}
	}
	s.attempts.known[temp] = attempt{at: time.Now(), clear: c != fs.Unclear}
}

// gone reports whether a temp that was missing just now stays so.
func (s *Sink) gone(temp string) bool {
	s.attempts.lock.Lock()
	defer s.attempts.lock.Unlock()
	a, ok := s.attempts.known[temp]
	if !ok {
		if s.attempts.known == nil {
			s.attempts.known = map[string]attempt{}
		}
		s.attempts.known[temp] = attempt{at: time.Now()}
		return false
	}
	return a.clear || time.Since(a.at) >= lateEffect
}

// removeTemp removes a temp of ours and journals that it is gone, once that is
// sure. A temp that is missing but may still appear stays listed.
func (s *Sink) removeTemp(ctx context.Context, target fs.FileSystem, f journal.Abandoned) error {
	err := target.Remove(ctx, f.Temp)
	if err != nil && fs.ClassOf(err) != fs.Missing {
		return err
	}
	if err != nil && !s.gone(f.Temp) {
		return nil
	}
	s.attempts.lock.Lock()
	delete(s.attempts.known, f.Temp)
	s.attempts.lock.Unlock()
	return s.journal.Append(f)
}

// janitorEvery is how often leftovers are looked after and chunk files that
// are gone are noted.
const janitorEvery = time.Minute

// janitor removes temps of finished parts and lets the journal forget chunks
// whose files are gone. It ends with ctx.
func (s *Sink) janitor(ctx context.Context) {
	tick := time.NewTicker(janitorEvery)
	defer tick.Stop()
	for {
		s.removeLeftovers(ctx)
		s.sweepOrigins()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Sink) removeLeftovers(ctx context.Context) {
	for _, l := range s.journal.Leftovers() {
		if ctx.Err() != nil {
			return
		}
		target, err := s.upload.open(ctx, s, l.Target)
		if err == nil {
			err = s.removeTemp(ctx, target, journal.Abandoned{Target: l.Target, Temp: l.Temp})
		}
		if err != nil && ctx.Err() == nil {
			s.log.Debug("a leftover temp file can't be removed yet", "target", l.Target, "file", l.Temp, "error", err)
		}
	}
}

func (s *Sink) sweepOrigins() {
	for _, dir := range s.journal.OriginDirs() {
		names, err := s.cfg.ChunkFiles(dir)
		if err != nil {
			continue // what can't be listed is taken to exist
		}
		exists := make(map[string]bool, len(names))
		for _, n := range names {
			exists[n] = true
		}
		if err := s.journal.MarkGone(dir, func(name string) bool { return exists[name] }); err != nil {
			s.log.Debug("chunk files that are gone could not be noted", "directory", dir, "error", err)
		}
	}
}
