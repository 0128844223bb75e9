package sink_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
)

// crashChunks is how many chunks a crash run delivers: enough to roll and
// commit parts, to begin new segments and to copy frames forward.
const crashChunks = 24

// life counts the operations of one process on disk and target, and ends it.
type life struct {
	ops    atomic.Int64
	limit  int64 // operations that still take effect; 0 is no limit
	target atomic.Int64
	stops  atomic.Bool
}

func (l *life) dead() bool {
	n := l.ops.Add(1)
	if l.limit > 0 && n > l.limit {
		l.stops.Store(true)
	}
	return l.stops.Load()
}

// run delivers the chunks in one process that dies after the n-th operation,
// and reports how many operations there were and whether it died.
func (w *world) run(n int64) (ops int64, died bool) {
	l := &life{limit: n}
	w.disk.SetHook(func(crashdisk.Op) crashdisk.Fault {
		if l.dead() {
			return crashdisk.Fault{Err: faultfs.ErrStopped}
		}
		return crashdisk.Fault{}
	})
	w.inject = faultfs.StopWhen(l.dead)
	s, err := sink.Open(w.config())
	if err != nil {
		if !errors.Is(err, faultfs.ErrStopped) {
			w.t.Fatal(err)
		}
		return l.ops.Load(), true
	}
	for i := range crashChunks {
		if !w.deliver(s, i, 1) {
			break
		}
		if i%5 != 4 { // the answer of every fifth is lost: its file stays
			w.acked(i)
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = s.Close()
	return l.ops.Load(), l.stops.Load()
}

// revive starts again on what the crash left, with every chunk delivered again
// that Fluent Bit still has, and lets the sink finish.
func (w *world) revive(keep crashdisk.Keep, seed uint64) []string {
	w.disk = w.disk.Crash(keep, seed)
	w.inject = nil
	s := w.open()
	for i := range crashChunks {
		c := chunkOf(i)
		w.mu.Lock()
		has := w.files[c.file.Path()] || w.owed[c.ids[0]] == 0
		w.mu.Unlock()
		if has && !w.deliver(s, i, 5) {
			w.t.Fatalf("chunk %d is refused after the restart", i)
		}
	}
	time.Sleep(3 * time.Minute) // late temps are confirmed gone
	if err := s.Close(); err != nil {
		w.t.Error(err)
	}
	return w.check()
}

// TestStoppedAfterEveryOperation is the promise in one test: whatever the
// operation after which the process dies, and whatever of the unsynced data
// survives, each record is published once.
func TestStoppedAfterEveryOperation(t *testing.T) {
	var total int64
	synctest.Test(t, func(t *testing.T) { total, _ = newWorld(t).run(0) })
	t.Logf("a whole run has %d operations", total)
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	died := int64(0)
	for n := int64(1); n <= total; n += step {
		keep := crashdisk.Keep(n % 3)
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			if _, dead := w.run(n); dead {
				died++
			}
			w.cfg = restartConfigs[n%int64(len(restartConfigs))]
			for _, fault := range w.revive(keep, uint64(n)) {
				t.Errorf("stopped after operation %d, unsynced %v: %s", n, keep, fault)
			}
		})
		if t.Failed() {
			return
		}
	}
	if died < total/step*8/10 {
		t.Errorf("only %d of %d runs were stopped", died, total/step)
	}
}

// restartConfigs are the configurations with which the sink starts again.
var restartConfigs = []func(*sink.Config){
	nil,
	func(c *sink.Config) { c.Format = streaming{c.Format}; c.PartSuffix = ".jsonl" },
	func(c *sink.Config) { c.Base = "/elsewhere"; c.WriterID = "other" },
	func(c *sink.Config) { c.Policy = bySize{1}; c.MaxOpenBuckets = 1; c.MemoryLimit = 0 },
}

// fails runs one process in which the n-th operation fails in one of the ways,
// and reports whether it did.
func (w *world) fails(n int64, way string) (fired bool) {
	var ops atomic.Int64
	var hit atomic.Bool
	mine := func() bool {
		if ops.Add(1) != n {
			return false
		}
		hit.Store(true)
		return true
	}
	w.disk.SetHook(func(crashdisk.Op) crashdisk.Fault {
		if !mine() {
			return crashdisk.Fault{}
		}
		switch way {
		case "before":
			return crashdisk.Fault{Err: syscall.EIO}
		case "no space":
			return crashdisk.Fault{Err: syscall.ENOSPC}
		case "half":
			return crashdisk.Fault{Err: syscall.EIO, Half: true}
		}
		return crashdisk.Fault{Err: syscall.EIO, After: true}
	})
	w.inject = onNth{mine, way}
	s, err := sink.Open(w.config())
	for try := 0; err != nil && try < 3; try++ { // Fluent Bit is started again
		s, err = sink.Open(w.config())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range crashChunks {
		if !w.deliver(s, i, 5) {
			w.t.Errorf("chunk %d is refused for good", i)
		}
		w.acked(i)
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(3 * time.Minute)
	if err := s.Close(); err != nil {
		w.t.Error(err)
	}
	return hit.Load()
}

// onNth lets the operation fail that mine picks.
type onNth struct {
	mine func() bool
	way  string
}

func (o onNth) Decide(faultfs.Call) faultfs.Action {
	if !o.mine() {
		return faultfs.Pass()
	}
	switch o.way {
	case "before":
		return faultfs.FailBefore(0, nil)
	case "half":
		return faultfs.Half(10, 0, nil)
	case "late":
		return faultfs.Late(nil)
	}
	return faultfs.FailAfter(nil)
}

func (o onNth) Fired() int     { return 0 }
func (o onNth) String() string { return o.way }

// TestEveryOperationFailsOnce lets each operation fail once: without effect,
// half done, and with its answer lost.
func TestEveryOperationFailsOnce(t *testing.T) {
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for i, way := range []string{"before", "after", "half", "no space"} {
		t.Run(way, func(t *testing.T) {
			fired := 0
			for n := int64(1 + i%2); ; n += step {
				var hit bool
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					hit = w.fails(n, way)
					for _, fault := range w.check() {
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
			if fired < 50 {
				t.Errorf("only %d faults fired", fired)
			}
			t.Log(fmt.Sprint(fired, " faults fired"))
		})
	}
}
