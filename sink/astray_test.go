package sink_test

import (
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestAFolderIsMovedBeforeARename: the uploaded file goes with it, under its
// temp name, which no reader sees. It isn't taken for published.
func TestAFolderIsMovedBeforeARename(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		w.Inject = faultfs.Times(1, faultfs.On(faultfs.Publish), faultfs.FailBefore(fs.Target, nil))
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		synctest.Wait()
		if err := w.Store.Move("/logs/b0", "/archive"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		st := w.Status(s)
		if len(st.Parts) != 1 || !strings.Contains(st.Parts[0].Why, "temp name") {
			t.Fatalf("%+v", st)
		}
		for _, f := range w.Store.Files() {
			if strings.HasPrefix(path.Base(f.Path), ".part") {
				if err := w.Store.Delete(f.Path); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Resolve(journal.Resolved{Part: 1, How: journal.PublishAgain}); err != nil {
			t.Error(err)
		}
		w.Close(s)
		w.MustBeRight()
	})
}
