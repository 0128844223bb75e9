package sink_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestReported is named by what users of other sinks reported. Each is a kind
// of fault that must not exist here; kinds with a test of their own elsewhere in
// this package aren't repeated.
func TestReported(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, w *sinktest.World){
		"a corrupt write-ahead log stops recovery for good":            corruptLog,
		"the writer's own earlier attempt blocks its restart":          earlierAttempt,
		"close fails and the rename goes ahead anyway":                 closeFails,
		"late and current records interleaved make a rotation storm":   rotationStorm,
		"a late record overwrites its bucket's file":                   lateRecord,
		"a hung server hangs the agent":                                hungServer,
		"an unclear rename is taken for delivered":                     unclearRename,
		"a stop leaves temp files behind for ever":                     stopLeavesTemps,
		"the answer is OK although nothing could be written to a disk": okWithoutDisk,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, sinktest.NewWorld(t)) })
		})
	}
}

// corruptLog: what is bad is set aside and told, the rest is delivered.
func corruptLog(t *testing.T, w *sinktest.World) {
	w.Change = func(c *sink.Config) { c.ExitTimeout = 0 }
	s := w.Open()
	for i := range 5 {
		w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
	}
	w.Close(s)
	damageRecord(w, "c2")
	w.Change = nil
	s = w.Open()
	w.Close(s)
	w.Forgive("c2")
	w.MustBeRight()
	if n := w.Log.Count("damage"); n == 0 {
		t.Error("nobody was told")
	}
}

// damageRecord damages a record in the journal.
func damageRecord(w *sinktest.World, id string) {
	w.T.Helper()
	damaged := 0
	for _, name := range w.Disk.Names() {
		if !isSegment(name) {
			continue
		}
		if err := w.Disk.Damage(name, func(b []byte) []byte {
			if i := strings.Index(string(b), "\xa2"+id); i >= 0 {
				b[i] ^= 1
				damaged++
			}
			return b
		}); err != nil {
			w.T.Fatal(err)
		}
	}
	if damaged == 0 {
		w.T.Fatal("nothing was damaged")
	}
}

// earlierAttempt: each attempt has a temp of its own, also after a restart.
func earlierAttempt(t *testing.T, w *sinktest.World) {
	w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
	w.Inject = faultfs.Times(12, faultfs.On(faultfs.UploadClose), faultfs.FailBefore(fs.Unclear, nil))
	s := w.Open()
	w.Must(s, sinktest.One("c0", "b0"))
	for range 3 {
		time.Sleep(20 * time.Second)
		s = restart(w, s)
	}
	time.Sleep(3 * time.Minute)
	w.Close(s)
	w.MustBeRight()
	temps := map[string]bool{}
	for _, c := range w.Calls() {
		if c.Op == faultfs.UploadCreate {
			if temps[c.Path] {
				t.Errorf("%s was tried twice", c.Path)
			}
			temps[c.Path] = true
		}
	}
	if len(temps) != 13 || w.Inject.Fired() != 12 {
		t.Errorf("%d attempts, of which %d failed", len(temps), w.Inject.Fired())
	}
}

// closeFails: only a clean first close commits. A temp whose close failed is
// never renamed, even if it is whole.
func closeFails(t *testing.T, w *sinktest.World) {
	w.Change = eachRolls
	w.Inject = faultfs.Times(1, faultfs.On(faultfs.UploadClose), faultfs.FailAfter(nil))
	s := w.Open()
	w.Must(s, sinktest.One("c0", "b0"))
	time.Sleep(time.Minute)
	w.Close(s)
	w.MustBeRight()
	var failed, renamed string
	for _, c := range w.Calls() {
		switch c.Op {
		case faultfs.UploadClose:
			if failed == "" {
				failed = c.Path
			}
		case faultfs.Publish:
			renamed = c.Path
		}
	}
	if w.Inject.Fired() != 1 || renamed == failed || renamed == "" {
		t.Errorf("%s failed to close and %s was renamed", failed, renamed)
	}
}

// rotationStorm: buckets stay open side by side.
func rotationStorm(t *testing.T, w *sinktest.World) {
	w.Change = func(c *sink.Config) { c.Policy = sinktest.BySize(1 << 20) }
	s := w.Open()
	for i := range 100 {
		w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), []string{"now", "late"}[i%2]))
		time.Sleep(10 * time.Millisecond)
	}
	w.Close(s)
	w.MustBeRight()
	if n := len(w.Finished()); n != 2 {
		t.Errorf("%d files for two buckets", n)
	}
}

// lateRecord: always a new number.
func lateRecord(t *testing.T, w *sinktest.World) {
	s := w.Open()
	for i := range 3 {
		w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "yesterday"))
		time.Sleep(5 * time.Minute)
		s = restart(w, s)
	}
	w.Close(s)
	w.MustBeRight()
	if n := len(w.Finished()); n != 3 {
		t.Errorf("%d files", n)
	}
}

// hungServer: flushes are answered while every call to the target hangs.
func hungServer(t *testing.T, w *sinktest.World) {
	release := make(chan struct{})
	w.Change = eachRolls
	w.Inject = faultfs.Every(faultfs.Match{}, faultfs.Hang(release))
	s := w.Open()
	for i := range 50 {
		before := time.Now()
		w.Must(s, sinktest.ChunkOf(i))
		if took := time.Since(before); took > 0 {
			t.Errorf("a flush took %v", took)
		}
		time.Sleep(time.Second)
	}
	if w.Inject.Fired() == 0 {
		t.Error("nothing hung")
	}
	close(release)
	w.Close(s)
	w.MustBeRight()
}

// unclearRename: whether it happened or not is found out, not assumed.
func unclearRename(t *testing.T, w *sinktest.World) {
	w.Change = eachRolls
	w.Inject = faultfs.Script(faultfs.On(faultfs.Publish),
		faultfs.FailBefore(fs.Unclear, nil), faultfs.FailBefore(fs.Unclear, nil), faultfs.FailAfter(nil))
	s := w.Open()
	w.Must(s, sinktest.One("c0", "b0"))
	time.Sleep(time.Minute)
	w.Close(s)
	w.MustBeRight()
	if w.Inject.Fired() != 3 || w.Count(faultfs.LocateBegin) == 0 {
		t.Errorf("%d renames failed, %d looks", w.Inject.Fired(), w.Count(faultfs.LocateBegin))
	}
}

// stopLeavesTemps: what a stop in the middle of uploads leaves, the next start
// removes.
func stopLeavesTemps(t *testing.T, w *sinktest.World) {
	w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
	w.Inject = faultfs.Every(faultfs.On(faultfs.UploadClose), faultfs.Hang(nil))
	s := w.Open()
	for i := range 2 {
		w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
	}
	time.Sleep(time.Second)
	w.Close(s)
	if n := len(w.Store.Files()); n != 2 || w.Inject.Fired() != 2 {
		t.Errorf("the stop left %d temps", n)
	}
	w.Inject = nil
	s = w.Open()
	time.Sleep(3 * time.Minute)
	w.Close(s)
	w.MustBeRight()
}

// okWithoutDisk: a chunk that couldn't be made durable is refused, told once,
// and taken once it can be.
func okWithoutDisk(t *testing.T, w *sinktest.World) {
	s := w.Open()
	w.Must(s, sinktest.One("c0", "b0"))
	w.Disk.SetCapacity(1)
	refused := 0
	for i := range 300 {
		if !w.Flush(s, sinktest.ChunkOf(1000+i), sink.FlushOptions{}) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing was refused on a full disk")
	}
	if n := w.Log.Count("chunks are refused"); n != 1 {
		t.Errorf("%d lines", n)
	}
	w.Disk.SetCapacity(0)
	time.Sleep(time.Minute)
	w.Must(s, sinktest.One("c1", "b0"))
	w.Close(s)
	w.MustBeRight()
	if errs := w.Log.With("chunks are refused"); len(errs) > 0 && errs[0].Attrs["error"] == "" {
		t.Error("the line has no reason")
	}
}
