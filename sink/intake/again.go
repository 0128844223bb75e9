package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
	"github.com/out-hdfs/out_hdfs/sink/retry"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Again queues records once more after a delay, and soon once RetryNow was
// called. err is why they could not be written, nil if nothing is wrong with
// them.
func (i *Intake) Again(delay time.Duration, err error, owed ...chunk.Owed) {
	for k := range owed {
		owed[k] = i.Encode.Failed(owed[k], err)
	}
	i.queueLater("requeue", delay, chunk.RetryAfter, owed)
}

// queueLater queues chunks after a delay, and once RetryNow was called after no
// more than soon.
func (i *Intake) queueLater(name string, delay, soon time.Duration, owed []chunk.Owed) {
	if len(owed) == 0 {
		return
	}
	i.queue.expect(len(owed))
	i.group.Go(name, func(ctx context.Context) {
		waited, stop := context.WithTimeout(ctx, delay)
		defer stop()
		select {
		case <-waited.Done():
		case <-i.retry:
			run.Sleep(waited, soon)
		}
		i.queue.pushExpected(owed)
	})
}

// afterDeath is how long a process lives before it decodes chunks that one
// before it died over, unless it is drained before. One that is killed again and
// again for other reasons, soon after each start, would otherwise die several
// times over the same chunk through no fault of the chunk's.
const afterDeath = 10 * time.Second

// recover queues the chunks that are to be decoded again. Those that a process
// died over come later and one by one, so that they hinder no other. One that is
// held stays where it is: an operator's decision alone queues it.
func (i *Intake) recover() {
	var first, later []chunk.Owed
	for _, c := range i.Journal.Chunks() {
		o := chunk.Owed{Seq: c.Seq, Size: c.Length, Alone: c.Deaths > 0}
		switch {
		case chunk.Held(c):
			i.Log.Error("a chunk is held: the process died three times in a row while decoding it",
				"chunk", c.Seq, "bytes", c.Length, "do", fmt.Sprintf(
					"`out-hdfs resolve --state-dir %s chunk %d dead-letter` or `… decode`", i.StateDir, c.Seq))
		case o.Alone:
			later = append(later, o)
		default:
			first = append(first, o)
		}
	}
	i.queue.push(first...)
	i.queueLater("after-death", afterDeath, 0, later)
}

// Finish ends a job. What of it is in no part was given back by Again before;
// one that could not be read back is seen to here.
func (i *Intake) Finish(j *chunk.Job) {
	var damage *journal.DamageError
	switch {
	case j.Err == nil, errors.Is(j.Err, fs.ErrNotExist): // read, or all of it is rolled
		i.readable(j.Seq)
	case errors.As(j.Err, &damage):
		// Until it is given up it is tried again, in case that the disk recovers.
		if err := i.Journal.GiveUp(j.Seq); err != nil {
			i.unreadable(j.Owed, errors.Join(j.Err, err))
			break
		}
		i.Log.Error("a chunk was lost to damage of the state directory's disk", "chunk", j.Seq, "error", j.Err,
			"kept", i.StateDir+"/"+journal.Dir+"/damaged", "do", "replace the disk")
		i.readable(j.Seq)
	default:
		i.unreadable(j.Owed, j.Err)
	}
	j.Release(i.Memory)
	i.queue.finish(j.Seq)
}

// unreadable queues a chunk once more that can't be read back just now. It waits
// the longer the longer that goes on; only the first of several is told.
func (i *Intake) unreadable(o chunk.Owed, err error) {
	p, now := i.unread[o.Seq], time.Now()
	if p == nil {
		p = &retry.Pause{}
		i.unread[o.Seq] = p
	}
	if p.Fail(err, now, now) && len(i.unread) == 1 {
		i.Log.Error("a chunk can't be read back; it is tried again and others go on", "chunk", o.Seq,
			"state_dir", i.StateDir, "error", err, "do", openfiles.Advice(err, "check the disk"))
	}
	o.Payload = nil
	i.Again(p.Until().Sub(now), nil, o)
}

// readable ends the pause of a chunk.
func (i *Intake) readable(seq uint64) {
	p := i.unread[seq]
	if p == nil {
		return
	}
	delete(i.unread, seq)
	if after, _ := p.End(time.Now()); len(i.unread) == 0 {
		i.Log.Info("all chunks can be read back again", "after", after)
	}
}
