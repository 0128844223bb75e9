package sink_test

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// crashChunks is how many chunks a crash run delivers: enough to roll and
// commit parts, to begin new segments and to copy frames forward.
const crashChunks = 24

// seenChunks is how many chunks were delivered before a crash run and are
// remembered, since it can't be known whether their files are gone for good.
const seenChunks = 13

func seenChunk(i int) (c sinktest.Chunk) {
	c.Add(fmt.Sprintf("c-seen-%d", i), "b0")
	c.File = sinktest.FileOf(1_000_000 + i)
	return c
}

// before is a state directory that knows the seen chunks, and the next part's
// number there.
type before struct {
	disk *crashdisk.Disk
	next int
	seen bool // it knows them
}

// begin makes the state that crash runs begin with.
func begin(t *testing.T) (b before) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.Policy = sinktest.BySize(1 << 20)
			c.StateLimit = 1 << 30
			c.SegmentSize = 1 << 20
		}
		w.NoSync(true)
		s := w.Open()
		for i := range seenChunks {
			w.Must(s, seenChunk(i))
			w.Acked(seenChunk(i))
		}
		time.Sleep(2 * time.Minute)
		w.Close(s)
		w.MustBeRight()
		w.Change = nil
		for _, p := range w.Finished() {
			b.next = max(b.next, numberOf(p)+1)
		}
		b.disk, b.seen = w.Disk, true
	})
	return b
}

// numberOf is a finished part's number.
func numberOf(p string) int {
	name := strings.TrimSuffix(path.Base(p), path.Ext(p))
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		panic(err)
	}
	return n
}

// life counts the operations of one process on disk and target, and ends it.
type life struct {
	ops   atomic.Int64
	limit int64 // operations that still take effect; 0 is no limit
	ended atomic.Bool
	seen  bool // the state begins with a batch of seen chunks
	late  bool // an operation of the target's on which it ends takes effect later
	// underWay is true if there was such an operation.
	underWay atomic.Bool
}

// dead reports whether an operation doesn't take effect any more, and whether
// it is the one on which the process ends.
func (l *life) dead() (dead, last bool) {
	if n := l.ops.Add(1); l.limit > 0 && n > l.limit {
		last = !l.ended.Swap(true)
	}
	return l.ended.Load(), last
}

func (l *life) Decide(c faultfs.Call) faultfs.Action {
	switch dead, last := l.dead(); {
	case last && l.late && (c.Op == faultfs.Publish || c.Op == faultfs.Discard):
		l.underWay.Store(true)
		return faultfs.Late(faultfs.ErrStopped)
	case dead:
		return faultfs.FailBefore(0, faultfs.ErrStopped)
	}
	return faultfs.Pass()
}

func (l *life) Fired() int     { return 0 }
func (l *life) String() string { return "the process's end" }

// rough is what goes wrong on the target in each crash run.
func rough() []faultfs.Injector {
	pass := faultfs.Pass()
	return []faultfs.Injector{
		faultfs.Script(faultfs.On(faultfs.UploadClose), pass, faultfs.FailAfter(nil)),
		faultfs.Script(faultfs.On(faultfs.UploadWrite), pass, pass, pass, faultfs.Half(10, 0, nil)),
		faultfs.Script(faultfs.On(faultfs.Publish), faultfs.FailAfter(nil), pass, pass, faultfs.FailBefore(0, nil)),
		faultfs.Script(faultfs.On(faultfs.Discard), faultfs.FailAfter(nil)),
		faultfs.Script(faultfs.On(faultfs.LocateEnd), pass, faultfs.FailBefore(0, nil)),
	}
}

// happened counts what a crash run had in it.
type happened struct {
	mu sync.Mutex
	m  map[string]int
}

func (h *happened) add(what string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m == nil {
		h.m = map[string]int{}
	}
	h.m[what] += n
}

func isSegment(name string) bool { return path.Dir(name) == "journal" && len(path.Base(name)) == 16 }

// newCrashWorld is a world in the state before, with other writers' files on
// some of the names to come.
func newCrashWorld(t *testing.T, b before) *sinktest.World {
	w := sinktest.NewWorld(t)
	w.Disk = b.disk.Crash(crashdisk.All, 0)
	w.NoSync(true)
	w.Change = func(c *sink.Config) {
		c.MaxOpenBuckets = 16
		c.ExitTimeout = 2 * time.Minute
		c.StateLimit = 2 << 20
		c.SegmentSize = 4 << 10
	}
	for i := range 3 {
		for _, n := range []int{2, 5, 6} {
			p := fmt.Sprintf("/logs/b%d/part-w-%d.json", i, b.next+n)
			if err := w.Store.Write(p, []byte("stranger\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

// run delivers the chunks in one process that dies after so many operations,
// and counts what happened in it.
func run(w *sinktest.World, l *life, h *happened) (died bool) {
	var opened atomic.Bool
	w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
		if dead, _ := l.dead(); dead {
			return faults.Before(faultfs.ErrStopped)
		}
		switch {
		case op.Kind == crashdisk.Rename && !isSegment(op.Name):
			h.add("segments", 1)
		case op.Kind == crashdisk.Read && isSegment(op.Name) && opened.Load(): // payloads are in memory
			h.add("chunks copied forward", 1)
		}
		return faults.Pass()
	})
	faults := rough()
	w.Inject = faultfs.First(append([]faultfs.Injector{l}, faults...)...)
	s, err := sink.Open(w.Config())
	if err != nil {
		if !errors.Is(err, faultfs.ErrStopped) {
			w.T.Fatal(err)
		}
		return true
	}
	opened.Store(true)
	for i := range crashChunks {
		if !w.Deliver(s, i, 1) {
			break
		}
		if i%5 != 4 { // the answer of every fifth is lost: its file stays
			w.Acked(sinktest.ChunkOf(i))
		}
		if c := seenChunk(i % seenChunks); i%6 == 0 && l.seen { // and one comes once more, days later
			_ = s.Flush("tag", c.Data, c.File, sink.FlushOptions{})
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = s.Close()
	for _, f := range faults {
		h.add("fired: "+f.String(), f.Fired())
	}
	h.add("parts finished", w.Log.Count("a part is finished"))
	h.add("parts rolled", w.Log.Count("a part is pending"))
	h.add("names taken", w.Log.Count("a final name is taken"))
	h.add("chunks that came again", w.Log.Count("came again"))
	h.add("attempts abandoned", w.Count(faultfs.Discard))
	h.add("dead letters", len(w.DeadLetters()))
	return l.ended.Load()
}

// revive starts again on what the crash left, with every chunk delivered again
// that Fluent Bit still has, and lets the sink finish. What the dead process
// had asked of the target lands meanwhile.
func revive(w *sinktest.World, keep crashdisk.Keep, seed uint64) []string {
	w.Disk = w.Disk.Crash(keep, seed)
	w.Inject = nil
	landed := make(chan struct{})
	go func() {
		time.Sleep(time.Duration(seed%7) * 300 * time.Millisecond)
		w.Land()
		close(landed)
	}()
	s := w.Open()
	for i := range crashChunks {
		c := sinktest.ChunkOf(i)
		if (w.HasFile(c) || !w.IsOwed(c.IDs[0])) && !w.Deliver(s, i, 5) {
			w.T.Fatalf("chunk %d is refused after the restart", i)
		}
	}
	<-landed
	time.Sleep(3 * time.Minute) // late temps are confirmed gone
	w.Close(s)
	return w.Check()
}

// TestStoppedAfterEveryOperation is the promise in one test: whatever the
// operation after which the process dies, and whatever of the unsynced data
// survives, each record is published once. In every run attempts fail, answers
// are lost and names are taken.
func TestStoppedAfterEveryOperation(t *testing.T) {
	b := begin(t)
	whole := life{seen: b.seen}
	var h happened
	synctest.Test(t, func(t *testing.T) {
		w := newCrashWorld(t, b)
		run(w, &whole, &h)
		w.MustBeRight()
	})
	total := whole.ops.Load()
	t.Logf("a whole run has %d operations: %v", total, h.m)
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	died, late := int64(0), 0
	for n := int64(1); n <= total; n += step {
		keep := crashdisk.Keep(n / 4 % 4)
		synctest.Test(t, func(t *testing.T) {
			from := b
			if n/12%2 == 1 { // beside a large batch of seen chunks nothing else is worth copying
				from = before{disk: crashdisk.New(), next: 1}
			}
			w, l := newCrashWorld(t, from), &life{limit: n, seen: from.seen, late: n%2 == 0}
			if run(w, l, &h) {
				died++
			}
			if l.underWay.Load() {
				late++
			}
			usual, again := w.Change, restartConfigs[n%int64(len(restartConfigs))]
			w.Change = func(c *sink.Config) { usual(c); again(c) }
			for _, fault := range revive(w, keep, uint64(n)) {
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
	t.Logf("%d runs were stopped, %d of them with an operation of the target's under way: %v", died, late, h.m)
	if testing.Short() {
		return // too few runs for everything to happen in one of them
	}
	if late == 0 {
		t.Error("no run was stopped with an operation under way")
	}
	for _, what := range []string{"parts rolled", "parts finished", "dead letters", "segments", "chunks copied forward",
		"chunks that came again", "attempts abandoned", "names taken"} {
		if h.m[what] == 0 {
			t.Errorf("no %s in any run", what)
		}
	}
	for _, f := range rough() {
		if h.m["fired: "+f.String()] == 0 {
			t.Errorf("%v never fired", f)
		}
	}
}

// restartConfigs are the configurations with which the sink starts again.
var restartConfigs = []func(*sink.Config){
	func(*sink.Config) {},
	func(c *sink.Config) { c.Format = sinktest.Streaming{Format: c.Format}; c.PartSuffix = ".jsonl" },
	func(c *sink.Config) { c.Base = "/elsewhere"; c.WriterID = "other" },
	func(c *sink.Config) {
		c.Policy = sinktest.BySize(1)
		c.MaxOpenBuckets = 1
		c.Memory = sinktest.MemoryOf(0)
	},
}
