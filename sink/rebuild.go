package sink

import (
	"context"
	"errors"
	"io/fs"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// rebuild drops a part that can't be finished and has its records decoded
// again: those alone, since the others of their chunks are in other parts.
func (s *Sink) rebuild(ctx context.Context, p *part, err error) {
	s.log.Error("an in-progress part can't be finished and is built anew",
		"bucket", p.bucket, "part", p.number, "state_dir", s.cfg.StateDir, "error", err)
	s.dropStaged(p.file)
	items := make([]item, 0, len(p.shares))
	for _, sh := range p.shares {
		only := journal.CoverageOf(sh.Runs)
		items = append(items, item{seq: sh.Seq, only: &only})
	}
	s.requeue(items...)
}

// requeue queues chunks once more after a while.
func (s *Sink) requeue(items ...item) {
	s.queue.expect(len(items))
	s.goRun("requeue", func(ctx context.Context) {
		sleep(ctx, retryChunkAfter)
		s.queue.expect(-len(items))
		s.queue.push(items...)
	})
}

// dropStaged closes and removes a staged file that is of no use. What can't be
// removed now, the next start removes.
func (s *Sink) dropStaged(f *stagedFile) {
	_ = f.file.Close()
	s.removeStaged(f.name, f.at)
}

func (s *Sink) removeStaged(name string, size int64) {
	s.staged.Add(-size)
	if err := s.cfg.Disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("a staged file can't be removed; the next start tries again",
			"file", s.cfg.StateDir+"/"+name, "error", err)
	}
}
