package commit

import (
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// newTemp is a temp name that nobody used before.
func (c *commit) newTemp() string {
	return path.Join(c.dir(), "."+c.name(c.p.Number)+".inprogress."+uuid())
}

// uuid is a random UUID (RFC 9562, version 4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// LateEffect is how long a temp that was missing after an unclear answer may
// still appear: a create that a cut connection left in the target's queue.
const LateEffect = time.Minute

// temps remembers when this process last heard of a temp, and whether its
// creation can still take effect. A temp of an earlier process counts from the
// first time it is asked about.
type temps struct {
	lock  sync.Mutex
	known map[string]heard
}

type heard struct {
	at    time.Time
	clear bool // nothing can appear under the name any more
}

// note remembers the answer to a temp's creation.
func (t *temps) note(temp string, c fs.Class) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.noteLocked(temp, c != fs.Unclear)
}

func (t *temps) noteLocked(temp string, clear bool) {
	if t.known == nil {
		t.known = map[string]heard{}
	}
	t.known[temp] = heard{at: time.Now(), clear: clear}
}

// staysMissing reports whether a temp that was missing just now stays so.
func (t *temps) staysMissing(temp string) bool {
	t.lock.Lock()
	defer t.lock.Unlock()
	h, ok := t.known[temp]
	if !ok {
		t.noteLocked(temp, false)
		return false
	}
	return h.clear || time.Since(h.at) >= LateEffect
}

// forget ends the memory of a temp that the journal lists no more.
func (t *temps) forget(temp string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.known, temp)
}

// removeTemp removes a temp of ours and journals that it is gone, once that is
// sure. A temp that is missing but may still appear stays listed.
func (s *Stage) removeTemp(ctx context.Context, target *fs.Client, f journal.Abandoned) error {
	err := target.Discard(ctx, f.Temp)
	if err != nil && fs.ClassOf(err) != fs.Missing {
		return err
	}
	if err != nil && !s.temps.staysMissing(f.Temp) {
		return nil
	}
	if !s.journal.Record(ctx, f) {
		return ctx.Err()
	}
	s.temps.forget(f.Temp)
	return nil
}

// removeEvery is how often leftovers are looked after.
const removeEvery = time.Minute

// RemoveLeftovers tries to remove each temp that a finished part left, once, but
// none of a target that is paused: that would only wait for it.
func (s *Stage) RemoveLeftovers(ctx context.Context) {
	for _, l := range s.journal.Leftovers() {
		if ctx.Err() != nil {
			return
		}
		if s.isPaused(l.Target) {
			continue
		}
		target, err := s.open(ctx, l.Target)
		if err == nil {
			err = s.removeTemp(ctx, target, journal.Abandoned{Target: l.Target, Temp: l.Temp})
		}
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.Debug("a leftover temp file can't be removed yet", "target", l.Target, "file", l.Temp, "error", err)
		}
	}
}
