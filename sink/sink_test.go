package sink_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryRecordIsPublishedOnce(t *testing.T) {
	for name, cfg := range map[string]func(*sink.Config){
		"blocks":           nil,
		"streaming format": func(c *sink.Config) { c.Format = sinktest.Streaming{Format: c.Format} },
		"no memory":        func(c *sink.Config) { c.Memory = sinktest.MemoryOf(0) },
		"one bucket open":  func(c *sink.Config) { c.MaxOpenBuckets = 1 },
		"one worker":       func(c *sink.Config) { c.Workers = 1; c.Uploads = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = cfg
				s := w.Open()
				for i := range 40 {
					if !w.Deliver(s, i, 1) {
						t.Fatalf("chunk %d refused", i)
					}
					if i%4 == 1 {
						w.Deliver(s, i-1, 1)
					}
				}
				for i, kind := range sinktest.ChunkKinds {
					w.Must(s, kind.Make(100+i))
				}
				w.Close(s)
				w.MustBeRight()
				if n := len(w.Finished()); n < 10 {
					t.Errorf("%d finished files", n)
				}
			})
		})
	}
}

func TestTimersRollWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.Policy = sinktest.BySize(1 << 30) }
		s := w.Open()
		w.Deliver(s, 1, 1)
		synctest.Wait()
		if n := len(w.Finished()); n != 0 {
			t.Fatalf("%d files before the time", n)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := len(w.Finished()); n != 3 {
			t.Fatalf("%d files after the time", n)
		}
		if st := s.Status(t.Context()); st.UnfinishedChunks != 0 || len(st.Parts) != 0 {
			t.Errorf("%+v", st)
		}
		w.Close(s)
		w.MustBeRight()
	})
}

// TestKnownWhileItsFileExists: a chunk that comes again days later, since
// another output was slow, is known as long as its file is there, and a day
// more. Another file with the same name or the same content is new.
func TestKnownWhileItsFileExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.StateLimit = 1 << 30
			c.SegmentSize = 1 << 20
			c.Policy = sinktest.BySize(1 << 20)
		}
		s := w.Open()
		kept := seenChunk(0)
		w.Must(s, kept)
		for i := 1; i <= 300; i++ {
			w.Must(s, seenChunk(i))
			w.Acked(seenChunk(i))
		}
		again := func() {
			t.Helper()
			before := w.Log.Count("came again")
			w.Must(s, kept)
			if w.Log.Count("came again") == before {
				t.Error("a chunk that came again is taken for new")
			}
		}
		for i := range 3 {
			time.Sleep(40 * time.Hour)
			for k := range 3 { // so that the journal begins a segment, and forgets
				var c sinktest.Chunk
				c.AddPadded(fmt.Sprintf("c-large-%d-%d", i, k), "b0", 500_000)
				w.Must(s, c)
			}
			again()
			s = restart(w, s)
			again()
		}
		w.NoSync(true)
		w.Acked(kept)
		time.Sleep(20 * time.Hour)
		again()
		other := sinktest.One("c-other", "b0")
		other.File = kept.File
		w.Must(s, other)
		elsewhere := sinktest.One("c-elsewhere", "b0")
		elsewhere.File = kept.File
		elsewhere.File.Stream = "other"
		w.Must(s, elsewhere)
		w.Close(s)
		w.MustBeRight()
	})
}
