package sink_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

var diskOperations = []crashdisk.Kind{
	crashdisk.Create, crashdisk.Open, crashdisk.Remove, crashdisk.Rename, crashdisk.Mkdir, crashdisk.List,
	crashdisk.SyncDir, crashdisk.Read, crashdisk.Write, crashdisk.Allocate, crashdisk.Truncate, crashdisk.Sync,
}

// TestADiskThatHangs: whichever operation of the state directory's disk hangs,
// a flush is answered within flush_timeout, status answers, and the stop takes
// exit_timeout and hardly more. While an operation hangs the lock is nobody
// else's; when it has come back, the lock is free and the successor publishes
// everything once.
func TestADiskThatHangs(t *testing.T) {
	for _, kind := range diskOperations {
		for _, noWait := range []bool{false, true} {
			name := string(kind)
			if noWait {
				name += ", flushed on the engine's thread"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { hangingDisk(t, kind, noWait) })
			})
		}
	}
}

func hangingDisk(t *testing.T, kind crashdisk.Kind, noWait bool) {
	w := sinktest.NewWorld(t)
	w.Change = func(c *sink.Config) { c.ExitTimeout = 2 * time.Second }
	s := w.Open()
	var chunks []sinktest.Chunk
	for i := range 4 {
		c := sinktest.ChunkOf(i)
		w.Must(s, c)
	}
	synctest.Wait()
	release := make(chan struct{})
	var hanging atomic.Int64
	w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
		if op.Kind == kind {
			hanging.Add(1)
			<-release
			hanging.Add(-1)
		}
		return faults.Pass()
	})
	for i := 4; i < 12; i++ {
		c := sinktest.ChunkOf(i)
		if !c.File.Known() {
			continue // answered RETRY it would be new each time, which TestALateChunkWithoutAFile is about
		}
		chunks = append(chunks, c)
		began := time.Now()
		w.Flush(s, c, sink.FlushOptions{NoWait: noWait})
		if took := time.Since(began); took > time.Second {
			t.Errorf("a flush was answered after %v; flush_timeout is 1s", took)
		}
	}
	began := time.Now()
	w.Status(s)
	if took := time.Since(began); took > time.Second {
		t.Errorf("status took %v", took)
	}
	began = time.Now()
	err := s.Close()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the stop took %v; exit_timeout is 2s", took)
	}
	hung := hanging.Load() > 0
	if hung != errors.Is(err, sink.ErrDiskHangs) && kind != crashdisk.Read {
		t.Errorf("%d operations hang, and the stop answered: %v", hanging.Load(), err)
	}
	if hung {
		var locked *disk.LockedError
		if _, err := sink.Open(w.Config()); !errors.As(err, &locked) {
			t.Errorf("a successor beside a hanging operation: %v", err)
		}
	} else if kind == crashdisk.Sync || kind == crashdisk.Write {
		t.Error("nothing hangs")
	}
	close(release)
	w.Disk.SetHook(nil)
	<-s.Released()
	synctest.Wait()
	w.Change = nil
	next := w.Open()
	for _, c := range chunks {
		w.Must(next, c)
	}
	w.Close(next)
	w.MustBeRight()
}

// TestALateChunkWithoutAFile: a flush that gives up on a chunk which can't be
// told from others, and whose append the disk has, leaves nothing of it.
func TestALateChunkWithoutAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		s := w.Open()
		synctest.Wait()
		release := make(chan struct{})
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Sync {
				<-release
			}
			return faults.Pass()
		})
		c := sinktest.One("c0", "b0")
		c.File = chunkfile.File{}
		for range 3 {
			if w.Flush(s, c, sink.FlushOptions{}) {
				t.Error("accepted though the disk hangs")
			}
		}
		close(release)
		w.Disk.SetHook(nil)
		time.Sleep(time.Second)
		w.Must(s, c)
		w.Close(s)
		w.MustBeRight()
	})
}
