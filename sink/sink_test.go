package sink_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryRecordIsPublishedOnce(t *testing.T) {
	for name, cfg := range map[string]func(*sink.Config){
		"blocks":           nil,
		"streaming format": func(c *sink.Config) { c.Format = streaming{c.Format} },
		"no memory":        func(c *sink.Config) { c.MemoryLimit = 0 },
		"one bucket open":  func(c *sink.Config) { c.MaxOpenBuckets = 1 },
		"one worker":       func(c *sink.Config) { c.Workers = 1; c.Uploads = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.cfg = cfg
				s := w.open()
				for i := range 40 {
					if !w.deliver(s, i, 1) {
						t.Fatalf("chunk %d refused", i)
					}
					if i%4 == 1 {
						w.deliver(s, i-1, 1)
					}
				}
				for i, kind := range chunkKinds {
					w.must(s, kind.make(100+i))
				}
				w.close(s)
				w.mustBeRight()
				if n := len(w.finished()); n < 10 {
					t.Errorf("%d finished files", n)
				}
			})
		})
	}
}

func TestTimersRollWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg = func(c *sink.Config) { c.Policy = bySize{1 << 30} }
		s := w.open()
		w.deliver(s, 1, 1)
		synctest.Wait()
		if n := len(w.finished()); n != 0 {
			t.Fatalf("%d files before the time", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(w.finished()); n != 3 {
			t.Fatalf("%d files after the time", n)
		}
		if st := s.Status(t.Context()); st.UnfinishedChunks != 0 || len(st.Parts) != 0 {
			t.Errorf("%+v", st)
		}
		w.close(s)
		w.mustBeRight()
	})
}

// TestKnownWhileItsFileExists: a chunk that comes again days later, since
// another output was slow, is known as long as its file is there, and a day
// more. Another file with the same name or the same content is new.
func TestKnownWhileItsFileExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg = func(c *sink.Config) { c.StateLimit = 1 << 30; c.SegmentSize = 1 << 20; c.Policy = bySize{1 << 20} }
		s := w.open()
		kept := seenChunk(0)
		w.must(s, kept)
		for i := 1; i <= seenChunks+10; i++ {
			w.must(s, seenChunk(i))
			w.acked(seenChunk(i))
		}
		again := func() {
			t.Helper()
			before := w.log.count("came again")
			w.must(s, kept)
			if w.log.count("came again") == before {
				t.Error("a chunk that came again is taken for new")
			}
		}
		for i := range 3 {
			time.Sleep(40 * time.Hour)
			for k := range 3 { // so that the journal begins a segment, and forgets
				var c testChunk
				c.addPadded(fmt.Sprintf("c-large-%d-%d", i, k), "b0", 500_000)
				w.must(s, c)
			}
			again()
			s = w.restart(s)
			again()
		}
		w.acked(kept)
		time.Sleep(20 * time.Hour)
		again()
		other := one("c-other", "b0")
		other.file = kept.file
		w.must(s, other)
		elsewhere := one("c-elsewhere", "b0")
		elsewhere.file = kept.file
		elsewhere.file.Stream = "other"
		w.must(s, elsewhere)
		w.close(s)
		w.mustBeRight()
	})
}
