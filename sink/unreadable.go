package sink

import (
	"errors"
	"io/fs"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// unreadable sees to a chunk that could not be read back: gone, damaged, or to
// be tried again.
func (a *applier) unreadable(j *job) {
	var damage *journal.DamageError
	switch {
	case errors.As(j.err, &damage):
		// Until it is given up it is tried again, in case that the disk recovers.
		if err := a.s.journal.GiveUp(j.seq); err != nil {
			a.again(j.item, errors.Join(j.err, err))
			return
		}
		a.s.log.Error("a chunk was lost to damage of the state directory's disk", "chunk", j.seq, "error", j.err,
			"kept", a.s.cfg.StateDir+"/"+journal.Dir+"/damaged", "do", "replace the disk")
		a.readable(j.seq)
	case errors.Is(j.err, fs.ErrNotExist): // all of it is rolled
		a.readable(j.seq)
	default:
		a.again(j.item, j.err)
	}
}

// again queues a chunk once more that can't be read back just now. It waits
// the longer the longer that goes on; only the first of several is told.
func (a *applier) again(it item, err error) {
	t, now := a.unread[it.seq], time.Now()
	if t == nil {
		t = &trouble{}
		a.unread[it.seq] = t
	}
	if t.hit(err, now, now) && len(a.unread) == 1 {
		a.s.log.Error("a chunk can't be read back; it is tried again and others go on", "chunk", it.seq,
			"state_dir", a.s.cfg.StateDir, "error", err, "do", "check the disk")
	}
	it.payload = nil
	a.s.requeue(t.until.Sub(now), it)
}

// readable ends the trouble of a chunk.
func (a *applier) readable(seq uint64) {
	t := a.unread[seq]
	if t == nil {
		return
	}
	delete(a.unread, seq)
	if after, _ := t.heal(time.Now()); len(a.unread) == 0 {
		a.s.log.Info("all chunks can be read back again", "after", after)
	}
}
