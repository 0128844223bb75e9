package sink_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// takesFile reports whether an operation needs a descriptor.
func takesFile(op crashdisk.Op) bool {
	switch op.Kind {
	case crashdisk.Create, crashdisk.Open, crashdisk.SyncDir, crashdisk.List:
		return true
	}
	return false
}

// manyBuckets is a chunk that goes to n buckets.
func manyBuckets(name string, n int) (c sinktest.Chunk) {
	for r := range n {
		c.Add(fmt.Sprintf("%s-%d", name, r), fmt.Sprintf("b%03d", r))
	}
	return c
}

// TestEachFileThatCantBeOpened: whichever operation that needs a descriptor is
// refused one, by the process's limit or the system's, for a moment or for
// minutes: everything is published once, and nobody is told to make room on the
// disk.
func TestEachFileThatCantBeOpened(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		time time.Duration // for how long it lasts; 0 is one operation
	}{
		{"one, EMFILE", syscall.EMFILE, 0},
		{"one, ENFILE", syscall.ENFILE, 0},
		{"all for five minutes", syscall.EMFILE, 5 * time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			step := 1
			if testing.Short() {
				step = 7
			}
			for n := 0; ; n += step {
				fired := false
				synctest.Test(t, func(t *testing.T) { fired = refuseFile(t, n, row.err, row.time) })
				if !fired {
					if n == 0 {
						t.Error("nothing was refused")
					}
					return
				}
				if t.Failed() {
					t.Fatalf("when number %d is refused", n)
				}
			}
		})
	}
}

// refuseFile refuses a descriptor to the n-th operation of a running sink that
// needs one, and to those that follow for a time. It reports whether there was
// such an operation.
func refuseFile(t *testing.T, n int, err error, lasts time.Duration) (fired bool) {
	w := sinktest.NewWorld(t)
	w.Change = func(c *sink.Config) { c.Policy = sinktest.BySize(400); c.Workers, c.Uploads = 1, 1 }
	s := w.Open()
	var count atomic.Int64
	var until atomic.Int64 // Unix time in ns
	w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
		if !takesFile(op) {
			return faults.Pass()
		}
		now := time.Now().UnixNano()
		if count.Add(1)-1 == int64(n) {
			until.Store(now + int64(lasts))
			return faults.Before(err)
		}
		if now < until.Load() {
			return faults.Before(err)
		}
		return faults.Pass()
	})
	for i := range 6 {
		c := manyBuckets(fmt.Sprintf("c%d", i), 6)
		c.File = sinktest.FileOf(i)
		for tries := 0; !w.Flush(s, c, sink.FlushOptions{}); tries++ {
			if tries > 1000 {
				t.Fatal("a chunk is refused for ever")
			}
			time.Sleep(time.Second)
		}
		w.Acked(c)
		time.Sleep(time.Second)
	}
	time.Sleep(10 * time.Minute)
	w.Close(s)
	w.MustBeRight()
	for _, line := range w.Log.AtLeast(slog.LevelWarn) {
		if strings.Contains(line.Attrs["do"], "make room") || strings.Contains(line.Attrs["do"], "check") {
			t.Errorf("wrong advice: %v", line)
		}
	}
	return until.Load() > 0
}

// TestNoMoreFilesThanThereAre: on a system that has few descriptors, whatever the
// sink was told of them, hundreds of buckets are published.
func TestNoMoreFilesThanThereAre(t *testing.T) {
	for _, planned := range []bool{true, false} {
		for _, there := range []int{8, 20} {
			t.Run(fmt.Sprintf("%d, planned %v", there, planned), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { fewFiles(t, there, planned) })
			})
		}
	}
}

func fewFiles(t *testing.T, there int, planned bool) {
	w := sinktest.NewWorld(t)
	w.Change = func(c *sink.Config) {
		c.MaxOpenBuckets, c.StateLimit, c.SegmentSize = 256, 1<<30, 1<<20
		c.Policy = sinktest.BySize(1 << 20)
		if planned {
			c.OpenFiles = func() int { return there - 6 }
		}
	}
	var most, refused atomic.Int64
	w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
		if !takesFile(op) {
			return faults.Pass()
		}
		open := int64(w.Disk.Handles())
		most.Store(max(most.Load(), open))
		if open >= int64(there) {
			refused.Add(1)
			return faults.Before(syscall.EMFILE)
		}
		return faults.Pass()
	})
	for life := range 2 {
		s := w.Open()
		w.Must(s, manyBuckets(fmt.Sprintf("c%d", life), 200))
		time.Sleep(time.Minute)
		rolls := w.Status(s).Rolls
		if rolls["open_files"] < 100 {
			t.Errorf("life %d: rolls are %v", life, rolls)
		}
		w.Close(s)
	}
	w.MustBeRight()
	if n := len(w.Finished()); n != 400 {
		t.Errorf("%d files", n)
	}
	if planned && refused.Load() > 0 {
		t.Errorf("%d files could not be opened, although there was a plan", refused.Load())
	}
	if !planned && refused.Load() == 0 {
		t.Errorf("only %d files were open: nothing is shown", most.Load())
	}
}

// TestTheShareOfFilesShrinks: when another instance starts, parts that are open
// are rolled until they hold no more than is left.
func TestTheShareOfFilesShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		var files atomic.Int64
		files.Store(40)
		w.Change = func(c *sink.Config) {
			c.MaxOpenBuckets, c.StateLimit, c.SegmentSize = 256, 1<<30, 1<<20
			c.Policy = sinktest.BySize(1 << 20)
			c.OpenFiles = func() int { return int(files.Load()) }
		}
		s := w.Open()
		for i, row := range []struct{ files, parts int }{{40, 30}, {12, 9}, {4, 3}, {1, 1}, {0, 1}} {
			files.Store(int64(row.files))
			w.Must(s, manyBuckets(fmt.Sprintf("c%d", i), 60))
			time.Sleep(time.Second)
			open := 0
			for _, p := range w.Status(s).Parts {
				if p.State == "in-progress" {
					open++
				}
			}
			if open != row.parts {
				t.Errorf("of %d files %d are open", row.files, open)
			}
		}
		w.Close(s)
		w.MustBeRight()
	})
}
