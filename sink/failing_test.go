package sink_test

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// fails runs one process in which the n-th operation fails in one of the ways,
// and reports whether it did.
func fails(w *sinktest.World, n int64, way string) (fired bool) {
	one := &onNth{n: n, way: way}
	w.Disk.SetHook(one.disk)
	w.Inject = one
	s, err := sink.Open(w.Config())
	for try := 0; err != nil && try < 3; try++ { // Fluent Bit is started again
		s, err = sink.Open(w.Config())
	}
	if err != nil {
		w.T.Fatal(err)
	}
	for i := range crashChunks {
		if !w.Deliver(s, i, 5) {
			w.T.Errorf("chunk %d is refused for good", i)
		}
		w.Acked(sinktest.ChunkOf(i))
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(10 * time.Second)
	w.Land()
	time.Sleep(3 * time.Minute)
	w.Close(s)
	return one.Fired() > 0
}

// onNth lets the n-th operation of disk and target together fail.
type onNth struct {
	n     int64
	way   string
	ops   atomic.Int64
	fired atomic.Bool
}

func (o *onNth) mine() bool {
	mine := o.ops.Add(1) == o.n
	if mine {
		o.fired.Store(true)
	}
	return mine
}

func (o *onNth) disk(crashdisk.Op) faults.Action {
	if !o.mine() {
		return faults.Pass()
	}
	switch o.way {
	case "before", "late", "path", "target":
		return faults.Before(syscall.EIO)
	case "no space":
		return faults.Before(syscall.ENOSPC)
	case "half":
		return faults.Half(0, syscall.EIO)
	}
	return faults.After(syscall.EIO)
}

func (o *onNth) Decide(faultfs.Call) faultfs.Action {
	if !o.mine() {
		return faultfs.Pass()
	}
	return actions[o.way]
}

func (o *onNth) Fired() int {
	if o.fired.Load() {
		return 1
	}
	return 0
}

func (o *onNth) String() string { return fmt.Sprintf("operation %d: %s", o.n, o.way) }

// actions are what a target does, by name. A target of class Path or Target
// changed nothing; one that is Unclear may have.
var actions = map[string]faultfs.Action{
	"before":   faultfs.FailBefore(0, nil),
	"after":    faultfs.FailAfter(nil),
	"half":     faultfs.Half(10, 0, nil),
	"late":     faultfs.Late(nil),
	"path":     faultfs.FailBefore(3, nil),
	"target":   faultfs.FailBefore(4, nil),
	"no space": faultfs.FailAfter(nil),
}

// TestEveryOperationFailsOnce lets each operation fail once: without effect,
// half done, with its answer lost, and with its effect to come later. Ways that
// differ from the first in what the target answers only take turns.
func TestEveryOperationFailsOnce(t *testing.T) {
	for i, way := range []string{"before", "after", "half", "no space", "late", "path", "target"} {
		first, step := int64(1), int64(1)
		if i > 3 {
			first, step = int64(1+i%2), 2
		}
		if testing.Short() {
			first, step = int64(1+i), 14
		}
		t.Run(way, func(t *testing.T) {
			fired := 0
			for n := first; ; n += step {
				var hit bool
				synctest.Test(t, func(t *testing.T) {
					w := sinktest.NewWorld(t)
					hit = fails(w, n, way)
					for _, fault := range w.Check() {
						t.Errorf("operation %d: %s", n, fault)
					}
				})
				if t.Failed() {
					return
				}
				if !hit {
					break
				}
				fired++
			}
			if int64(fired) < 300/step {
				t.Errorf("only %d faults fired", fired)
			}
			t.Logf("%d faults fired", fired)
		})
	}
}
