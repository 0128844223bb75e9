package sink_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// TestAStagedFileThatWasSetAsideBefore is said to be there, also when an
// operator has it published without putting it back.
func TestAStagedFileThatWasSetAsideBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.cfg = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
		w.store.SetDown(errors.New("connection refused"))
		s := w.open()
		w.must(s, one("c0", "b0"))
		time.Sleep(time.Second)
		w.close(s)
		if err := w.disk.Damage("staged/1", func(b []byte) []byte { b[0] ^= 1; return b }); err != nil {
			t.Fatal(err)
		}
		w.store.SetDown(nil)
		s = w.open()
		for try := range 3 {
			time.Sleep(time.Minute)
			st := w.status(s)
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
		w.close(s)
	})
}
