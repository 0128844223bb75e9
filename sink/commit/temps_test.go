package commit

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// TestTempsAreForgotten: what is remembered of temps ends with them.
func TestTempsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a temps
		if a.staysMissing("of an earlier process") {
			t.Error("a temp of an earlier process is gone at once")
		}
		a.note("clear", fs.Target)
		a.note("unclear", fs.Unclear)
		for temp, want := range map[string]bool{"clear": true, "unclear": false, "of an earlier process": false} {
			if got := a.staysMissing(temp); got != want {
				t.Errorf("%s is gone: %v", temp, got)
			}
		}
		time.Sleep(LateEffect)
		for _, temp := range []string{"clear", "unclear", "of an earlier process"} {
			if !a.staysMissing(temp) {
				t.Errorf("%s isn't gone after a minute", temp)
			}
			a.forget(temp)
		}
		if len(a.known) != 0 {
			t.Errorf("%v is remembered", a.known)
		}
	})
}
