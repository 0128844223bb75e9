package sink

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// rebuild drops a part that can't be finished and has its records decoded
// again: those alone, since the others of their chunks are in other parts. If
// it was the format that could not finish it, its records come under suspicion,
// see sift.go. If it was the disk, that is told once, and the records wait the
// longer the longer that goes on.
func (s *Sink) rebuild(p *part, err error) {
	const text = "an in-progress part can't be finished and is built anew"
	var format *formatError
	delay := retryChunkAfter
	if errors.As(err, &format) {
		s.log.Error(text, "bucket", p.bucket, "part", p.number, "records", p.records, "error", err,
			"do", "report this; records that can't be encoded go to the dead letters by themselves")
	} else {
		var first bool
		if first, delay = s.seal.disk.hit(err, p.last); first {
			s.log.Error(text, "bucket", p.bucket, "part", p.number, "records", p.records, "state_dir", s.cfg.StateDir,
				"error", err, "do", "make room on the disk, or check it; it is tried again by itself")
		}
	}
	s.dropStaged(p.file)
	items := make([]item, 0, len(p.shares))
	for _, sh := range p.shares {
		only := journal.CoverageOf(sh.Runs)
		it := item{seq: sh.Seq, only: &only, failed: sh.failed}
		items = append(items, s.suspect(it, err))
	}
	s.requeue(delay, items...)
}

// requeue queues chunks once more after a while, and soon once the sink is
// drained: what hindered them may be over, and nothing is tried after a stop.
func (s *Sink) requeue(delay time.Duration, items ...item) {
	s.queueLater("requeue", delay, retryChunkAfter, items)
}

// queueLater queues chunks after a delay, and once the sink is drained after no
// more than hurried.
func (s *Sink) queueLater(name string, delay, hurried time.Duration, items []item) {
	if len(items) == 0 {
		return
	}
	s.queue.expect(len(items))
	s.goRun(&s.local, name, func(ctx context.Context) {
		waited, stop := context.WithTimeout(ctx, delay)
		defer stop()
		select {
		case <-waited.Done():
		case <-s.draining:
			sleep(waited, hurried)
		}
		s.queue.pushExpected(items)
	})
}

// dropStaged closes and removes a staged file that is of no use. What can't be
// removed now, the next start removes.
func (s *Sink) dropStaged(f *stagedFile) {
	_ = f.file.Close()
	s.removeStaged(f.name, f.size())
}

func (s *Sink) removeStaged(name string, size int64) {
	s.staged.Add(-size)
	s.shrink(name, size)
	if err := s.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errStopped) {
		s.log.Warn("a staged file can't be removed; the next start tries again",
			"file", s.cfg.StateDir+"/"+name, "error", err)
	}
}

// shrinkStep is how much of a staged file is given back at a time.
const shrinkStep = 4 << 20

// shrink gives back the space of a large file that is about to be removed. To
// remove it at once takes the file system a tenth of a second, longer where it
// discards what is freed, and a flush that syncs the journal waits for that.
func (s *Sink) shrink(name string, size int64) {
	if size <= shrinkStep {
		return
	}
	f, err := s.disk.Open(name)
	if err != nil {
		return // the removal says why
	}
	for size -= shrinkStep; size > 0 && err == nil; size -= shrinkStep {
		err = f.Truncate(size)
	}
	_ = f.Close()
}
