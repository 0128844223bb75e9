package sink_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestAStagedFileThatWasSetAsideBefore is said to be there, also when an
// operator has it published without putting it back.
func TestAStagedFileThatWasSetAsideBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		time.Sleep(time.Second)
		w.Close(s)
		if err := w.Disk.Damage("staged/1", func(b []byte) []byte { b[0] ^= 1; return b }); err != nil {
			t.Fatal(err)
		}
		w.Store.SetDown(nil)
		s = w.Open()
		for try := range 3 {
			time.Sleep(time.Minute)
			st := w.Status(s)
			if len(st.Parts) != 1 || !strings.Contains(st.Parts[0].Why, "/state/aside/1 ") {
				t.Errorf("try %d: %+v", try, st.Parts)
			}
			if err := s.Resolve(journal.Resolved{Part: 1, How: journal.PublishAgain}); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Minute)
		if err := s.Resolve(journal.Resolved{Part: 1, How: journal.AcceptDone}); err != nil {
			t.Error(err)
		}
		w.Close(s)
	})
}
