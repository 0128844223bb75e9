package sink_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestThousandsOfBucketsInAChunk: max_open_buckets is kept, nothing is dropped,
// and hardly more files are open than buckets.
func TestThousandsOfBucketsInAChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.MaxOpenBuckets, c.StateLimit, c.SegmentSize = 16, 1<<30, 1<<20
			c.Policy = sinktest.BySize(1 << 20)
		}
		most := 0
		var mu sync.Mutex
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Sync && strings.HasPrefix(op.Name, "staged/") {
				time.Sleep(5 * time.Millisecond) // the sealers are slower than the applier
			}
			return faults.Pass()
		})
		w.See = func(string) {
			mu.Lock()
			defer mu.Unlock()
			most = max(most, w.Disk.Handles())
		}
		s := w.Open()
		for i := range 2 {
			var c sinktest.Chunk
			for r := range 1000 {
				c.Add(fmt.Sprintf("c%d-%d", i, r), fmt.Sprintf("t%d", r))
			}
			w.Must(s, c)
			for range 50 {
				time.Sleep(10 * time.Millisecond)
				w.See("")
			}
		}
		open := 0
		for _, p := range w.Status(s).Parts {
			if p.State == "in-progress" {
				open++
			}
		}
		if open > 16 {
			t.Errorf("%d buckets are open", open)
		}
		w.Close(s)
		w.MustBeRight()
		if n := len(w.Finished()); n != 2000 {
			t.Errorf("%d files", n)
		}
		if most > 16+32+2+8 {
			t.Errorf("%d files were open at a time", most)
		}
	})
}

// TestMemoryLimit rolls the least recently written part when what the parts
// gather exceeds its share of memory_limit.
func TestMemoryLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.Memory, c.MaxOpenBuckets, c.Policy = sinktest.MemoryOf(64<<10), 100, sinktest.BySize(1<<40)
		}
		s := w.Open()
		for i := range 60 {
			var c sinktest.Chunk
			c.AddPadded(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i%30), 4000)
			w.Must(s, c)
			time.Sleep(100 * time.Millisecond)
		}
		held := int64(0)
		for _, p := range w.Status(s).Parts {
			if p.State == "in-progress" {
				held += p.Bytes
			}
		}
		if held > 32<<10 || held == 0 {
			t.Errorf("parts in progress hold %d bytes", held)
		}
		rolled := w.Finished()
		if len(rolled) < 40 {
			t.Errorf("%d parts were rolled", len(rolled))
		}
		w.Close(s)
		w.MustBeRight()
		for i, p := range rolled { // the least recently written first
			if want := fmt.Sprintf("/logs/b%d/", i%30); !strings.HasPrefix(p, want) {
				t.Errorf("part %d of those rolled is %s", i, p)
				break
			}
		}
	})
}

// TestPartsThatWaitToBeSealedCount: what rolled parts hold until they are sealed is
// bounded too. The applier waits for a disk that can't keep up.
func TestPartsThatWaitToBeSealedCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		release := make(chan struct{})
		w.Change = func(c *sink.Config) {
			c.Memory, c.MaxOpenBuckets, c.Policy = sinktest.MemoryOf(96<<10), 100, sinktest.BySize(1)
		}
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Sync && strings.HasPrefix(op.Name, "staged/") {
				return faults.Hang(release)
			}
			return faults.Pass()
		})
		s := w.Open()
		const padding = 6000 // of which a part's buffer holds at least as much
		for i := range 30 {
			var c sinktest.Chunk
			c.AddPadded(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i), padding)
			w.Must(s, c)
		}
		time.Sleep(time.Minute)
		rolling := 0
		for _, p := range w.Status(s).Parts {
			if p.State == "rolling" {
				rolling++
			}
		}
		if memory := sinktest.MemoryOf(96 << 10); rolling == 0 || int64(rolling*padding) > memory.Parts-memory.Open() {
			t.Errorf("%d parts of %d bytes wait to be sealed, which may hold %d", rolling, padding, memory.Parts-memory.Open())
		}
		close(release)
		w.Close(s)
		w.MustBeRight()
	})
}

// TestStaleArrivals: a part's age counts from its oldest record's arrival, also
// when that was long before this process.
func TestStaleArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.ExitTimeout = 0; c.Memory = sinktest.MemoryOf(0) }
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		w.Close(s)
		time.Sleep(10 * time.Hour) // the agent was off
		w.Change = func(c *sink.Config) { c.Policy = sinktest.BySize(1 << 40) }
		s = w.Open()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if n := len(w.Finished()); n != 1 {
			t.Errorf("%d files: a part whose records are ten hours old waits for a minute", n)
		}
		if st := w.Status(s); st.Oldest != nil {
			t.Errorf("oldest is %v", st.Oldest)
		}
		w.Close(s)
		w.MustBeRight()
	})
}
