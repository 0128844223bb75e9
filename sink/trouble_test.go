package sink_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestATargetIsNoMoreInTroubleOnceAPartIsHeld: it has answered, and temps that
// are left there are removed.
func TestATargetIsNoMoreInTroubleOnceAPartIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		w.Inject = faultfs.First(lost(), faultfs.Times(1, faultfs.On(faultfs.LocateBegin), faultfs.FailBefore(fs.Target, nil)))
		w.Consume = func(p string) bool { return w.Store.Delete(p) == nil }
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		time.Sleep(time.Minute)
		st := w.Status(s)
		if len(st.Parts) != 1 || st.Parts[0].State != "held" {
			t.Fatalf("no part is held: %+v", st)
		}
		if len(st.Troubles) != 0 || w.Log.Count("the target works again") != 1 {
			t.Errorf("%+v", st.Troubles)
		}
		w.Close(s)
	})
}

// TestAStopDoesntWaitForADiskThatIsWell: records of parts that could not be
// finished for long are tried again at once.
func TestAStopDoesntWaitForADiskThatIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		var ill atomic.Bool
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if ill.Load() && op.Kind == crashdisk.Sync && strings.HasPrefix(op.Name, "staged/") {
				return faults.Before(syscall.EIO)
			}
			return faults.Pass()
		})
		s := w.Open()
		ill.Store(true)
		for i := range 3 {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
			time.Sleep(10 * time.Minute)
		}
		time.Sleep(time.Hour)
		ill.Store(false)
		before := time.Now()
		w.Close(s)
		if took := time.Since(before); took > 5*time.Second {
			t.Errorf("the stop took %v", took)
		}
		w.MustBeRight()
	})
}
