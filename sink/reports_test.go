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
)

// TestReported is named by what users of other sinks reported. Each is a kind
// of fault that must not exist here; kinds with a test of their own elsewhere in
// this package aren't repeated.
func TestReported(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, w *world){
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
			synctest.Test(t, func(t *testing.T) { test(t, newWorld(t)) })
		})
	}
}

// corruptLog: what is bad is set aside and told, the rest is delivered.
func corruptLog(t *testing.T, w *world) {
	w.cfg = func(c *sink.Config) { c.ExitTimeout = 0 }
	s := w.open()
	for i := range 5 {
		w.must(s, one(fmt.Sprintf("c%d", i), "b0"))
	}
	w.close(s)
	w.damageRecord("c2")
	w.cfg = nil
	s = w.open()
	w.close(s)
	delete(w.owed, "c2")
	w.mustBeRight()
	if n := w.log.count("damage"); n == 0 {
		t.Error("nobody was told")
	}
}

// damageRecord damages a record in the journal.
func (w *world) damageRecord(id string) {
	w.t.Helper()
	damaged := 0
	for _, name := range w.disk.Names() {
		if !isSegment(name) {
			continue
		}
		if err := w.disk.Damage(name, func(b []byte) []byte {
			if i := strings.Index(string(b), "\xa2"+id); i >= 0 {
				b[i] ^= 1
				damaged++
			}
			return b
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	if damaged == 0 {
		w.t.Fatal("nothing was damaged")
	}
}

// earlierAttempt: each attempt has a temp of its own, also after a restart.
func earlierAttempt(t *testing.T, w *world) {
	w.cfg = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
	w.inject = faultfs.Times(12, faultfs.On(faultfs.UploadClose), faultfs.FailBefore(fs.Unclear, nil))
	s := w.open()
	w.must(s, one("c0", "b0"))
	for range 3 {
		time.Sleep(20 * time.Second)
		s = w.restart(s)
	}
	time.Sleep(3 * time.Minute)
	w.close(s)
	w.mustBeRight()
	temps := map[string]bool{}
	for _, c := range w.calls() {
		if c.Op == faultfs.UploadCreate {
			if temps[c.Path] {
				t.Errorf("%s was tried twice", c.Path)
			}
			temps[c.Path] = true
		}
	}
	if len(temps) != 13 || w.inject.Fired() != 12 {
		t.Errorf("%d attempts, of which %d failed", len(temps), w.inject.Fired())
	}
}

// closeFails: only a clean first close commits. A temp whose close failed is
// never renamed, even if it is whole.
func closeFails(t *testing.T, w *world) {
	w.cfg = eachRolls
	w.inject = faultfs.Times(1, faultfs.On(faultfs.UploadClose), faultfs.FailAfter(nil))
	s := w.open()
	w.must(s, one("c0", "b0"))
	time.Sleep(time.Minute)
	w.close(s)
	w.mustBeRight()
	var failed, renamed string
	for _, c := range w.calls() {
		switch c.Op {
		case faultfs.UploadClose:
			if failed == "" {
				failed = c.Path
			}
		case faultfs.Publish:
			renamed = c.Path
		}
	}
	if w.inject.Fired() != 1 || renamed == failed || renamed == "" {
		t.Errorf("%s failed to close and %s was renamed", failed, renamed)
	}
}

// rotationStorm: buckets stay open side by side.
func rotationStorm(t *testing.T, w *world) {
	w.cfg = func(c *sink.Config) { c.Policy = bySize{1 << 20} }
	s := w.open()
	for i := range 100 {
		w.must(s, one(fmt.Sprintf("c%d", i), []string{"now", "late"}[i%2]))
		time.Sleep(10 * time.Millisecond)
	}
	w.close(s)
	w.mustBeRight()
	if n := len(w.finished()); n != 2 {
		t.Errorf("%d files for two buckets", n)
	}
}

// lateRecord: always a new number.
func lateRecord(t *testing.T, w *world) {
	s := w.open()
	for i := range 3 {
		w.must(s, one(fmt.Sprintf("c%d", i), "yesterday"))
		time.Sleep(5 * time.Minute)
		s = w.restart(s)
	}
	w.close(s)
	w.mustBeRight()
	if n := len(w.finished()); n != 3 {
		t.Errorf("%d files", n)
	}
}

// hungServer: flushes are answered while every call to the target hangs.
func hungServer(t *testing.T, w *world) {
	release := make(chan struct{})
	w.cfg = eachRolls
	w.inject = faultfs.Every(faultfs.Match{}, faultfs.Hang(release))
	s := w.open()
	for i := range 50 {
		before := time.Now()
		w.must(s, chunkOf(i))
		if took := time.Since(before); took > 0 {
			t.Errorf("a flush took %v", took)
		}
		time.Sleep(time.Second)
	}
	if w.inject.Fired() == 0 {
		t.Error("nothing hung")
	}
	close(release)
	w.close(s)
	w.mustBeRight()
}

// unclearRename: whether it happened or not is found out, not assumed.
func unclearRename(t *testing.T, w *world) {
	w.cfg = eachRolls
	w.inject = faultfs.Script(faultfs.On(faultfs.Publish),
		faultfs.FailBefore(fs.Unclear, nil), faultfs.FailBefore(fs.Unclear, nil), faultfs.FailAfter(nil))
	s := w.open()
	w.must(s, one("c0", "b0"))
	time.Sleep(time.Minute)
	w.close(s)
	w.mustBeRight()
	if w.inject.Fired() != 3 || w.count(faultfs.LocateBegin) == 0 {
		t.Errorf("%d renames failed, %d looks", w.inject.Fired(), w.count(faultfs.LocateBegin))
	}
}

// stopLeavesTemps: what a stop in the middle of uploads leaves, the next start
// removes.
func stopLeavesTemps(t *testing.T, w *world) {
	w.cfg = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
	w.inject = faultfs.Every(faultfs.On(faultfs.UploadClose), faultfs.Hang(nil))
	s := w.open()
	for i := range 2 {
		w.must(s, one(fmt.Sprintf("c%d", i), "b0"))
	}
	time.Sleep(time.Second)
	w.close(s)
	if n := len(w.store.Files()); n != 2 || w.inject.Fired() != 2 {
		t.Errorf("the stop left %d temps", n)
	}
	w.inject = nil
	s = w.open()
	time.Sleep(3 * time.Minute)
	w.close(s)
	w.mustBeRight()
}

// okWithoutDisk: a chunk that couldn't be made durable is refused, told once,
// and taken once it can be.
func okWithoutDisk(t *testing.T, w *world) {
	s := w.open()
	w.must(s, one("c0", "b0"))
	w.disk.SetCapacity(1)
	refused := 0
	for i := range 300 {
		if !w.flush(s, chunkOf(1000+i), sink.FlushOptions{}) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing was refused on a full disk")
	}
	if n := w.log.count("chunks are refused"); n != 1 {
		t.Errorf("%d lines", n)
	}
	w.disk.SetCapacity(0)
	time.Sleep(time.Minute)
	w.must(s, one("c1", "b0"))
	w.close(s)
	w.mustBeRight()
	if errs := w.log.with("chunks are refused"); len(errs) > 0 && errs[0].attrs["error"] == "" {
		t.Error("the line has no reason")
	}
}
