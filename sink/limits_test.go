package sink_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// used is what the state directory's files take.
func used(d *crashdisk.Disk) (n int64) {
	for _, name := range d.Names() {
		n += int64(len(d.Content(name)))
	}
	return n
}

// wide is a format whose files are several times as large as its chunks.
type wide struct{ codec.Format }

type wideWriter struct {
	codec.Writer
	w io.Writer
	n int64
}

func (f wide) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	inner, err := f.Format.NewWriter(w, m)
	return &wideWriter{Writer: inner, w: w}, err
}

func (w *wideWriter) Write(b *event.Batch) ([]codec.Reject, error) {
	rejects, err := w.Writer.Write(b)
	for range len(b.Events) - len(rejects) { // an id, and much else
		n, _ := fmt.Fprintf(w.w, `{"id":"pad%s"}`+"\n", strings.Repeat(" ", 500))
		w.n += int64(n)
	}
	return rejects, err
}

func (w *wideWriter) Size() int64 { return w.Writer.Size() + w.n }

// TestStateLimit: with the target away chunks are accepted until state_limit,
// and then refused: after flush_timeout, or at once where waiting would stop the
// agent. In-progress parts are rolled meanwhile, so that nothing pins the
// journal; the limit isn't passed; and all of it heals by itself.
func TestStateLimit(t *testing.T) {
	for name, change := range map[string]func(*sink.Config){
		"blocks":                      nil,
		"a format that blows up":      func(c *sink.Config) { c.Format = wide{c.Format} },
		"parts that are never rolled": func(c *sink.Config) { c.Policy = sinktest.BySize(1 << 40) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { stateLimit(t, change) })
		})
	}
}

func stateLimit(t *testing.T, change func(*sink.Config)) {
	const limit = 256 << 10
	w := sinktest.NewWorld(t)
	w.Change = func(c *sink.Config) {
		c.StateLimit, c.SegmentSize, c.Memory = limit, 8<<10, sinktest.MemoryOf(1<<20)
		c.Policy = sinktest.BySize(16 << 10)
		if change != nil {
			change(c)
		}
	}
	w.Store.SetDown(errors.New("connection refused"))
	s := w.Open()
	accepted, most, chunk := 0, int64(0), 0
	refused := time.Time{}
	for i := range 2000 {
		c := sinktest.ChunkOf(i)
		chunk = max(chunk, len(c.Data))
		before := time.Now()
		ok := w.Flush(s, c, sink.FlushOptions{NoWait: i%2 == 0})
		took := time.Since(before)
		switch {
		case ok:
			accepted++
		case i%2 == 0 && took > 0:
			t.Fatalf("a refusal without waiting took %v", took)
		case i%2 == 1 && (took < time.Second || took > 1100*time.Millisecond):
			t.Fatalf("a refusal took %v, flush_timeout is 1 s", took)
		}
		if !ok && refused.IsZero() {
			refused = time.Now()
		}
		most = max(most, used(w.Disk))
		time.Sleep(10 * time.Millisecond)
	}
	if refused.IsZero() || accepted < 30 {
		t.Fatalf("%d chunks were accepted, refused since %v", accepted, refused)
	}
	if room := int64(limit/8 + 8*chunk); most > limit+room {
		t.Errorf("the state took %d bytes, state_limit is %d", most, limit)
	}
	if n := w.Log.Count("chunks are refused"); n != 1 {
		t.Errorf("%d lines that chunks are refused", n)
	}
	w.Store.SetDown(nil)
	time.Sleep(2 * time.Minute)
	for i := range 50 { // and what it says of that doesn't flap
		w.Must(s, sinktest.ChunkOf(5000+i))
		time.Sleep(time.Second)
	}
	if n := w.Log.Count("chunks are accepted again"); n != 1 {
		t.Errorf("%d lines that chunks are accepted again", n)
	}
	w.Close(s)
	w.MustBeRight()
}

// TestBacklogStaysBelowStateLimit: chunks that were accepted faster than they
// are decoded fill the journal to the limit, and what is made of them is larger
// still. It is made only as room comes free.
func TestBacklogStaysBelowStateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 256 << 10
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.StateLimit, c.SegmentSize, c.Format = limit, 8<<10, wide{c.Format}
			c.Policy = sinktest.BySize(16 << 10)
		}
		slow := make(chan struct{})
		var blocked atomic.Bool
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Create && strings.HasPrefix(op.Name, "staged/") {
				blocked.Store(true)
				<-slow
			}
			return faults.Pass()
		})
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		accepted := 0
		for w.Flush(s, sinktest.ChunkOf(accepted), sink.FlushOptions{NoWait: true}) {
			accepted++
		}
		synctest.Wait()
		if accepted < 100 || !blocked.Load() {
			t.Fatalf("%d chunks were accepted", accepted)
		}
		close(slow)
		most := int64(0)
		for range 1000 {
			time.Sleep(100 * time.Millisecond)
			most = max(most, used(w.Disk))
		}
		if most > limit+limit/8 {
			t.Errorf("the state took %d bytes, state_limit is %d", most, limit)
		}
		w.Store.SetDown(nil)
		time.Sleep(10 * time.Minute)
		w.Close(s)
		w.MustBeRight()
	})
}

// TestManyFlushesAtATime see each other when there is little room.
func TestManyFlushesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 512 << 10
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.StateLimit, c.SegmentSize = limit, 8<<10 }
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		var wait sync.WaitGroup
		var accepted atomic.Int64
		for i := range 100 {
			var c sinktest.Chunk
			c.AddPadded(fmt.Sprintf("c%d", i), "b0", 20_000)
			wait.Go(func() {
				if w.Flush(s, c, sink.FlushOptions{NoWait: true}) {
					accepted.Add(1)
				}
			})
		}
		wait.Wait()
		most := int64(0)
		for range 100 {
			most = max(most, used(w.Disk))
			time.Sleep(100 * time.Millisecond)
		}
		if n := accepted.Load(); n < 5 || n*20_000 > limit {
			t.Errorf("%d chunks of 20 kB were accepted", n)
		}
		if most > limit+limit/8+20_000 {
			t.Errorf("the state took %d bytes", most)
		}
		w.Store.SetDown(nil)
		time.Sleep(5 * time.Minute)
		w.Close(s)
		w.MustBeRight()
	})
}

// TestPressureRollsParts: parts that no policy rolls don't pin the journal until
// it is full for good.
func TestPressureRollsParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.StateLimit, c.SegmentSize, c.Policy = 128<<10, 8<<10, sinktest.BySize(1<<40)
			c.BucketCheckInterval = time.Hour
		}
		s := w.Open()
		for i := range 500 {
			w.Must(s, sinktest.ChunkOf(i))
		}
		if n := len(w.Finished()); n < 10 {
			t.Errorf("%d parts were rolled", n)
		}
		w.Close(s)
		w.MustBeRight()
	})
}

// TestRefusalsAreToldOnce although at the limit each published part lets some
// chunks in before the next is refused.
func TestRefusalsAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.StateLimit, c.SegmentSize, c.FlushTimeout = 96<<10, 8<<10, 100*time.Millisecond
		}
		s := w.Open()
		down := errors.New("connection refused")
		refused, accepted := 0, 0
		for i := range 1500 {
			if i%50 == 25 {
				w.Store.SetDown(nil)
			} else if i%50 == 0 {
				w.Store.SetDown(down)
			}
			if w.Flush(s, sinktest.ChunkOf(i), sink.FlushOptions{}) {
				accepted++
			} else {
				refused++
			}
		}
		w.Store.SetDown(nil)
		if refused < 50 || accepted < 50 {
			t.Fatalf("%d chunks were refused and %d accepted", refused, accepted)
		}
		if n := w.Log.Count("chunks are refused"); n > 10 {
			t.Errorf("%d lines for %d refusals", n, refused)
		}
		w.Close(s)
		w.MustBeRight()
	})
}

// TestDiskFull: a full disk is answered with RETRY and one line, never with OK,
// and what was accepted is published once there is room.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.StateLimit = 1 << 30; c.SegmentSize = 16 << 10 }
		w.Disk.SetCapacity(128 << 10)
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		refused := 0
		for i := range 400 {
			if !w.Flush(s, sinktest.ChunkOf(i), sink.FlushOptions{}) {
				refused++
			}
			time.Sleep(100 * time.Millisecond)
		}
		if refused == 0 {
			t.Fatal("nothing was refused")
		}
		if n := w.Log.Count("chunks are refused"); n == 0 || n > 3 {
			t.Errorf("%d lines that chunks are refused", n)
		}
		w.Store.SetDown(nil)
		w.Disk.SetCapacity(0)
		time.Sleep(5 * time.Minute)
		w.Must(s, sinktest.ChunkOf(9999))
		w.Close(s)
		w.MustBeRight()
	})
}
