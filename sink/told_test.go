package sink_test

import (
	"fmt"
	"slices"
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

// TestAPartThatCantBeSynced: while the disk takes writes and no sync of staged
// files, that is told once, parts are built anew ever more seldom, and all of
// them are published once it works.
func TestAPartThatCantBeSynced(t *testing.T) {
	for name, kind := range map[string]struct {
		op    crashdisk.Kind
		begin string
		err   error
	}{
		"the file, no space": {crashdisk.Sync, "staged/", syscall.ENOSPC},
		"the file":           {crashdisk.Sync, "staged/", syscall.EIO},
		"the folder":         {crashdisk.SyncDir, "staged", syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = eachRolls
				var ill atomic.Bool
				var fired atomic.Int64
				w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
					if ill.Load() && op.Kind == kind.op && strings.HasPrefix(op.Name, kind.begin) {
						fired.Add(1)
						return faults.Before(kind.err)
					}
					return faults.Pass()
				})
				s := w.Open()
				ill.Store(true)
				for i := range 10 {
					w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i)))
				}
				time.Sleep(time.Hour)
				if n := fired.Load(); n < 100 || n > 10*300 {
					t.Errorf("%d syncs failed within an hour", n)
				}
				ill.Store(false)
				time.Sleep(2 * time.Minute)
				if n := len(w.Finished()); n < 10 {
					t.Errorf("%d parts were published", n)
				}
				w.Must(s, sinktest.One("last", "b0"))
				w.Close(s)
				w.MustBeRight()
				if a, b := w.Log.Count("is built anew"), w.Log.Count("parts can be finished again"); a != 1 || b != 1 {
					t.Errorf("%d lines that it began and %d that it ended", a, b)
				}
			})
		})
	}
}

// TestAChunkThatCantBeRead: chunks that the disk can't read back now hinder no
// other, are told once, and are published once it can.
func TestAChunkThatCantBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.Memory = sinktest.MemoryOf(1) } // nothing is kept in memory
		var ill atomic.Bool
		var fired atomic.Int64
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if ill.Load() && op.Kind == crashdisk.Read && strings.HasPrefix(op.Name, "journal/") {
				fired.Add(1)
				return faults.Before(syscall.EIO)
			}
			return faults.Pass()
		})
		s := w.Open()
		ill.Store(true)
		for i := range 5 {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
		}
		time.Sleep(time.Hour)
		if n := fired.Load(); n < 100 || n > 5*600 {
			t.Errorf("%d reads failed within an hour", n)
		}
		if n := len(w.Finished()); n > 0 {
			t.Errorf("%d parts were published of what can't be read", n)
		}
		ill.Store(false)
		time.Sleep(2 * time.Minute)
		if n := len(w.Finished()); n != 5 {
			t.Errorf("%d parts were published", n)
		}
		w.Close(s)
		w.MustBeRight()
		if a, b := w.Log.Count("can't be read back"), w.Log.Count("can be read back again"); a != 1 || b != 1 {
			t.Errorf("%d lines that it began and %d that it ended", a, b)
		}
	})
}

// TestManyRefusedBucketsAreToldInFewLines: what is wrong with all of them isn't
// each one's news. The status has them all.
func TestManyRefusedBucketsAreToldInFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const buckets = 60
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		for i := range buckets {
			w.Store.Refuse(fmt.Sprintf("/logs/b%d", i), nil)
		}
		s := w.Open()
		for i := range buckets {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i)))
		}
		w.Must(s, sinktest.One("fine", "fine"))
		time.Sleep(10 * time.Minute)
		if n := len(w.Finished()); n != 1 {
			t.Errorf("%d parts were published", n)
		}
		told, troubles := w.Log.Count("the target refuses"), w.Status(s).Troubles
		if told < 2 || told > 15 {
			t.Errorf("%d lines for %d buckets", told, buckets)
		}
		if len(troubles) != buckets {
			t.Errorf("the status has %d of them", len(troubles))
		}
		if !slices.ContainsFunc(troubles, func(x sink.TroubleStatus) bool { return x.Bucket == "/logs/b59" }) {
			t.Errorf("the last isn't among them")
		}
		for i := range buckets {
			w.Store.Allow(fmt.Sprintf("/logs/b%d", i))
		}
		time.Sleep(2 * time.Minute)
		w.Close(s)
		w.MustBeRight()
		if n := w.Log.Count("can be written again"); n > 15 {
			t.Errorf("%d lines that they can be written again", n)
		}
	})
}

// TestADamagedChunkThatCantBeSetAside is told once and tried ever more seldom,
// and is given up once there is room for the copy.
func TestADamagedChunkThatCantBeSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.Memory = sinktest.MemoryOf(1) } // nothing is kept in memory
		var hidden, full atomic.Bool
		var fired atomic.Int64
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			switch {
			case hidden.Load() && op.Kind == crashdisk.Read && isSegment(op.Name):
				return faults.Before(syscall.EIO)
			case full.Load() && op.Kind == crashdisk.Create && strings.HasPrefix(op.Name, "journal/damaged/"):
				fired.Add(1)
				return faults.Before(syscall.ENOSPC)
			}
			return faults.Pass()
		})
		s := w.Open()
		w.Must(s, sinktest.One("c1", "b0"))
		time.Sleep(time.Second)
		hidden.Store(true) // until it is damaged
		w.Must(s, sinktest.One("c2", "b0"))
		time.Sleep(time.Second)
		damageRecord(w, "c2")
		full.Store(true)
		hidden.Store(false)
		time.Sleep(time.Hour)
		if n := fired.Load(); n < 50 || n > 600 {
			t.Errorf("it was tried %d times within an hour", n)
		}
		full.Store(false)
		time.Sleep(2 * time.Minute)
		w.Close(s)
		w.Forgive("c2")
		w.MustBeRight()
		for text, want := range map[string]int{"can't be read back": 1, "was lost": 1, "can be read back again": 1} {
			if n := w.Log.Count(text); n != want {
				t.Errorf("%d lines that %s", n, text)
			}
		}
	})
}
