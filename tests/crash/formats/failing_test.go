package formats

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
)

// way is how an operation fails.
type way struct {
	name   string
	disk   faults.Action
	target faultfs.Action
}

func ways() []way {
	eio := faults.Before(syscall.EIO)
	return []way{
		{"without effect", eio, faultfs.FailBefore(fs.Unclear, nil)},
		{"with its answer lost", faults.After(syscall.EIO), faultfs.FailAfter(nil)},
		{"half done", faults.Half(0, syscall.EIO), faultfs.Half(10, 0, nil)},
		{"for want of space", faults.Before(syscall.ENOSPC), faultfs.FailBefore(fs.Path, nil)},
		{"with its effect to come", eio, faultfs.Late(nil)},
	}
}

// onNth lets the n-th operation of disk and target together fail.
type onNth struct {
	n     int64
	how   way
	ops   atomic.Int64
	fired atomic.Bool
}

func (o *onNth) mine() bool {
	if o.ops.Add(1) != o.n {
		return false
	}
	o.fired.Store(true)
	return true
}

func (o *onNth) disk(crashdisk.Op) faults.Action {
	if o.mine() {
		return o.how.disk
	}
	return faults.Pass()
}

// Decide implements faultfs.Injector.
func (o *onNth) Decide(faultfs.Call) faultfs.Action {
	if o.mine() {
		return o.how.target
	}
	return faultfs.Pass()
}

func (o *onNth) Fired() int     { return 0 }
func (o *onNth) String() string { return fmt.Sprintf("operation %d fails %s", o.n, o.how.name) }

// failing is one process in which an operation fails once, and that is started
// again where it can't start.
func (w *world) failing(f codec.Format, one *onNth) []string {
	w.disk.SetHook(one.disk)
	w.inject = one
	s, err := w.open(f)
	if err != nil {
		if s, err = w.open(f); err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range chunks {
		if !w.deliver(s, i, 5) {
			w.t.Errorf("chunk %d is refused for good", i)
		}
		w.acked(i)
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(10 * time.Second)
	w.land()
	time.Sleep(3 * time.Minute)
	if err := s.Close(); err != nil {
		w.t.Errorf("close: %v", err)
	}
	return w.check()
}

// TestAnOperationFailsOnce lets operations all over a process's life fail.
func TestAnOperationFailsOnce(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			var whole onNth
			synctest.Test(t, func(t *testing.T) { newWorld(t).failing(newFormat(t, k), &whole) })
			total, fired, tries := whole.ops.Load(), 0, 0
			step := max(1, total/sample(200))
			for n := int64(1); n <= total && !t.Failed(); n += step {
				tries++
				one := &onNth{n: n, how: ways()[tries%len(ways())]}
				synctest.Test(t, func(t *testing.T) {
					for _, fault := range newWorld(t).failing(newFormat(t, k), one) {
						t.Errorf("%v: %s", one, fault)
					}
				})
				if one.fired.Load() {
					fired++
				}
			}
			t.Logf("%d of %d faults fired, on every %dth of %d operations", fired, tries, step, total)
			if fired < tries*9/10 {
				t.Errorf("only %d of %d faults fired", fired, tries)
			}
		})
	}
}
