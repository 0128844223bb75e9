package sink_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// filed is a chunk of one record with a file of its own.
func filed(i int) sinktest.Chunk {
	c := sinktest.One(fmt.Sprintf("c%d", i), "b0")
	c.File = chunkfile.File{Dir: "/storage", Stream: "in", Name: fmt.Sprintf("1-%d.0.flb", i)}
	return c
}

// TestFinishedChunksTakeNoRoom: what was finished and whose file is gone is
// forgotten, so that however many chunks come, state_limit is for what is owed.
func TestFinishedChunksTakeNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.StateLimit = 1 << 20
			c.SegmentSize = c.StateLimit / 16
			c.Policy = sinktest.BySize(64 << 10)
		}
		const chunks, between = 20_000, 500
		s := w.Open()
		for i := range chunks {
			c := filed(i)
			if !w.Flush(s, c, sink.FlushOptions{}) {
				t.Fatalf("chunk %d is refused: %v", i, w.Log.With("refused"))
			}
			w.Acked(c)
			if i%between == between-1 {
				time.Sleep(time.Minute + time.Second)
			}
			if i == chunks/2 {
				w.Close(s)
				s = w.Open()
			}
		}
		time.Sleep(2 * time.Hour)
		if st := w.Status(s); st.UnfinishedChunks > 0 || st.JournalBytes > 512<<10 {
			t.Errorf("%d chunks, %d bytes of journal", st.UnfinishedChunks, st.JournalBytes)
		}
		w.Close(s)
		w.MustBeRight()
	})
}

// TestAChunkWhoseFileIsThereIsKnown however often the directory was looked at,
// and over a restart.
func TestAChunkWhoseFileIsThereIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		s := w.Open()
		for i := range 300 {
			c := filed(i)
			w.Must(s, c)
			if i%3 > 0 {
				w.Acked(c)
			}
		}
		for range 3 {
			time.Sleep(25 * time.Hour)
			for i := 0; i < 300; i += 3 {
				w.Must(s, filed(i)) // it comes again, as after a grace period
			}
			w.Close(s)
			s = w.Open()
		}
		w.Close(s)
		w.MustBeRight()
	})
}
