package sink_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestLedger follows records from their acceptance to the target, over a restart,
// dead letters and an empty chunk among them.
func TestLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.Policy = sinktest.BySize(1 << 20) }
		s := w.Open()
		ledger := func(when string, want sink.LedgerStatus) {
			t.Helper()
			if got := w.Status(s).Ledger; got != want {
				t.Errorf("%s it is %+v and not %+v", when, got, want)
			}
		}
		var c sinktest.Chunk
		c.Add("ca", "b0")
		c.Add("cb", "b1")
		c.AddObject("cbad", "odd cbad")
		w.Must(s, c)
		w.Must(s, sinktest.Chunk{})
		time.Sleep(time.Second)
		ledger("before a part is rolled", sink.LedgerStatus{Chunks: 2, EmptyChunks: 1})
		w.Store.Refuse("/logs/b1", nil)
		s = restart(w, s)
		ledger("after a restart", sink.LedgerStatus{Chunks: 2, EmptyChunks: 1, Records: 3, Published: 2, Pending: 1, DeadLetters: 1})
		w.Store.Allow("/logs/b1")
		w.Must(s, sinktest.One("cc", "b0"))
		s = restart(w, s)
		ledger("in the end", sink.LedgerStatus{Chunks: 3, EmptyChunks: 1, Records: 4, Published: 4, DeadLetters: 1})
		w.Close(s)
		w.MustBeRight()
	})
}
