package sink_test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestALargeStagedFileIsGivenBackInSteps once its part is published, and is
// removed whether or not that works.
func TestALargeStagedFileIsGivenBackInSteps(t *testing.T) {
	for name, fate := range map[string]faults.Action{"it works": faults.Pass(), "it fails": faults.Before(syscall.EIO)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = func(c *sink.Config) { eachRolls(c); c.StateLimit = 1 << 30; c.Memory = sinktest.MemoryOf(1 << 30) }
				var steps atomic.Int64
				w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
					if op.Kind != crashdisk.Truncate || !strings.HasPrefix(op.Name, "staged/") {
						return faults.Pass()
					}
					if len(w.Finished()) == 0 {
						t.Error("it is given back before it is published")
					}
					steps.Add(1)
					return fate
				})
				s := w.Open()
				var c sinktest.Chunk
				c.AddPadded("c0", "b0", 17<<20)
				w.Must(s, c)
				w.Close(s)
				w.MustBeRight()
				if n := steps.Load(); fate == faults.Pass() && n < 4 || fate != faults.Pass() && n != 1 {
					t.Errorf("%d steps", n)
				}
				for _, name := range w.Disk.Names() {
					if strings.HasPrefix(name, "staged/") {
						t.Errorf("%s is left", name)
					}
				}
			})
		})
	}
}
