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
)

// TestThousandsOfBucketsInAChunk: max_open_buckets is kept, nothing is dropped,
// and hardly more files are open than buckets.
func TestThousandsOfBucketsInAChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg = func(c *sink.Config) {
			c.MaxOpenBuckets, c.StateLimit, c.SegmentSize = 16, 1<<30, 1<<20
			c.Policy = bySize{1 << 20}
		}
		most := 0
		var mu sync.Mutex
		w.disk.SetHook(func(op crashdisk.Op) crashdisk.Fault {
			if op.Kind == crashdisk.Sync && strings.HasPrefix(op.Name, "staged/") {
				time.Sleep(5 * time.Millisecond) // the sealers are slower than the applier
			}
			return crashdisk.Fault{}
		})
		w.see = func(string) {
			mu.Lock()
			defer mu.Unlock()
			most = max(most, w.disk.Handles())
		}
		s := w.open()
		for i := range 2 {
			var c testChunk
			for r := range 1000 {
				c.add(fmt.Sprintf("c%d-%d", i, r), fmt.Sprintf("t%d", r))
			}
			w.must(s, c)
			for range 50 {
				time.Sleep(10 * time.Millisecond)
				w.see("")
			}
		}
		open := 0
		for _, p := range w.status(s).Parts {
			if p.State == "in-progress" {
				open++
			}
		}
		if open > 16 {
			t.Errorf("%d buckets are open", open)
		}
		w.close(s)
		w.mustBeRight()
		if n := len(w.finished()); n != 2000 {
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
		w := newWorld(t)
		w.cfg = func(c *sink.Config) {
			c.MemoryLimit, c.MaxOpenBuckets, c.Policy = 64<<10, 100, bySize{1 << 40}
		}
		s := w.open()
		for i := range 60 {
			var c testChunk
			c.addPadded(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i%30), 4000)
			w.must(s, c)
			time.Sleep(100 * time.Millisecond)
		}
		held := int64(0)
		for _, p := range w.status(s).Parts {
			if p.State == "in-progress" {
				held += p.Bytes
			}
		}
		if held > 32<<10 || held == 0 {
			t.Errorf("parts in progress hold %d bytes", held)
		}
		rolled := w.finished()
		if len(rolled) < 40 {
			t.Errorf("%d parts were rolled", len(rolled))
		}
		w.close(s)
		w.mustBeRight()
		for i, p := range rolled { // the least recently written first
			if want := fmt.Sprintf("/logs/b%d/", i%30); !strings.HasPrefix(p, want) {
				t.Errorf("part %d of those rolled is %s", i, p)
				break
			}
		}
	})
}

// TestStaleArrivals: a part's age counts from its oldest record's arrival, also
// when that was long before this process.
func TestStaleArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg = func(c *sink.Config) { c.ExitTimeout = 0; c.MemoryLimit = 0 }
		s := w.open()
		w.must(s, one("c0", "b0"))
		w.close(s)
		time.Sleep(10 * time.Hour) // the agent was off
		w.cfg = func(c *sink.Config) { c.Policy = bySize{1 << 40} }
		s = w.open()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if n := len(w.finished()); n != 1 {
			t.Errorf("%d files: a part whose records are ten hours old waits for a minute", n)
		}
		if st := w.status(s); st.Oldest != nil {
			t.Errorf("oldest is %v", st.Oldest)
		}
		w.close(s)
		w.mustBeRight()
	})
}
