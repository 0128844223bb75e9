// Package record appends frames to the journal for those who can't go on
// without them, however often that takes.
package record

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
	"github.com/out-hdfs/out_hdfs/sink/retry"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Recorder is the journal as its appends are repeated. It is safe for concurrent
// use.
type Recorder struct {
	journal  *journal.Journal
	log      *slog.Logger
	stateDir string
	failing  retry.Shared
}

// New returns a Recorder for j. stateDir names the state directory in
// texts.
func New(j *journal.Journal, log *slog.Logger, stateDir string) *Recorder {
	return &Recorder{journal: j, log: log, stateDir: stateDir}
}

// Record appends frames until that succeeds, and reports false if ctx ended
// first: nothing that the frames announce may be done then. That the journal
// can't be written is told once, however many wait for it.
func (r *Recorder) Record(ctx context.Context, frames ...journal.Frame) bool {
	var b retry.Backoff
	for ctx.Err() == nil {
		err := r.journal.Append(frames...)
		if err == nil {
			if after, was := r.failing.End(); was {
				r.log.Info("the journal can be written again", "after", after)
			}
			return true
		}
		r.failed(err)
		run.Sleep(ctx, b.Next())
	}
	return false
}

func (r *Recorder) failed(err error) {
	if errors.Is(err, journal.ErrClosed) {
		return
	}
	if first, _ := r.failing.Fail(err, time.Now()); !first {
		return
	}
	do := openfiles.Advice(err, "make room on the disk, or check it")
	if errors.Is(err, journal.ErrBroken) {
		do = "restart the agent: it goes on from what is in the journal"
	}
	r.log.Error("the journal can't be written; what is pending waits, and it is tried again",
		"state_dir", r.stateDir, "error", err, "do", do)
}
