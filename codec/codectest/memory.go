package codectest

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// size: Size is never behind what is written, and close to what the file will
// have.
func size(t *testing.T, h Harness) {
	shares := make([]share, 80)
	if h.Slow {
		shares = shares[:10]
	}
	for i := range shares {
		shares[i] = records(i*100, 100, 0)
	}
	for _, by := range h.ways() {
		if by == joining {
			continue
		}
		t.Run(string(by), func(t *testing.T) {
			x := h.begin(t, h.New())
			for _, s := range shares {
				x.add(s, by)
			}
			x.flush()
			before := x.w.Size()
			x.check()
			after := x.w.Size()
			if off := float64(before-after) / float64(after); off > h.Rounding || off < -h.Rounding {
				t.Errorf("Size said %d before the end, and %d behind it", before, after)
			}
		})
	}
}

// memory: open files hold no more than Buffered says, but for some kilobytes
// each.
func memory(t *testing.T, h Harness) {
	const files, unsaid = 32, 96 << 10
	f := h.New()
	shares := []share{records(0, 50, 0), records(100, 700, 0), records(1000, 50, 0)}
	open := func(n int) (writers []codec.Writer) {
		for range n {
			w := h.writer(t, f, io.Discard)
			for _, s := range shares {
				if _, err := w.Write(s.batch); err != nil {
					t.Fatal(err)
				}
			}
			writers = append(writers, w)
		}
		return writers
	}
	for _, w := range open(2) { // what files share
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before := eventtest.Heap()
	writers := open(files)
	said := int64(0)
	for _, w := range writers {
		said += w.Buffered()
	}
	if held := eventtest.Heap() - before; held > said*5/4+files*unsaid {
		t.Errorf("%d files say that they hold %d bytes, and hold %d", files, said, held)
	}
	runtime.KeepAlive(writers)
	runtime.KeepAlive(shares)
}

// givenUp: a writer that is dropped leaves neither a goroutine nor memory.
func givenUp(t *testing.T, h Harness) {
	f := h.New()
	s := records(0, 500, 0)
	drop := func(n int) {
		for range n {
			w := h.writer(t, f, io.Discard)
			if _, err := w.Write(s.batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	drop(3)
	goroutines, before := runtime.NumGoroutine(), eventtest.Heap()
	drop(40)
	const left = 4 << 20
	for range 50 { // finalizers and goroutines that end take a moment
		if eventtest.Heap()-before < left && runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if held := eventtest.Heap() - before; held >= left {
		t.Errorf("40 files that were given up still hold %d bytes", held)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines are left of files that were given up", n-goroutines)
	}
	runtime.KeepAlive(f)
	runtime.KeepAlive(s)
}
