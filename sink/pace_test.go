package sink_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestATargetThatIsBackIsntFlooded: uploads come one at a time at first, and more
// as it goes on working; a stop waits for none of that.
func TestATargetThatIsBackIsntFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.Uploads = 4 }
		w.Store.SetDown(errors.New("connection refused"))
		w.Inject = faultfs.Every(faultfs.On(faultfs.UploadWrite), faultfs.Delay(time.Second)) // each upload takes a second
		s := w.Open()
		for i := range 300 {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
		}
		time.Sleep(time.Minute)
		w.Store.SetDown(nil)
		for len(w.Finished()) == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		var done [5]int
		for i := range done {
			before := len(w.Finished())
			time.Sleep(10 * time.Second)
			done[i] = len(w.Finished()) - before
		}
		for i, most := range []int{11, 21, 31, 42, 42} {
			if done[i] > most || done[i] < most-4 {
				t.Errorf("in the first five times ten seconds %v are published", done)
				break
			}
		}
		w.Close(s)
		w.MustBeRight()
	})
}

// TestManyAgentsDontRollAtOnce: parts that begin at one moment are rolled over a
// tenth of their limit.
func TestManyAgentsDontRollAtOnce(t *testing.T) {
	for name, policy := range map[string]rolling.Default{
		"the interval":   {Interval: 1000 * time.Second},
		"the inactivity": {Inactivity: 1000 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = func(c *sink.Config) { c.Policy, c.BucketCheckInterval, c.MaxOpenBuckets = policy, time.Second, 1000 }
				s := w.Open()
				var c sinktest.Chunk
				for i := range 200 {
					c.Add(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i))
				}
				w.Must(s, c)
				time.Sleep(898 * time.Second)
				if n := len(w.Finished()); n > 0 {
					t.Errorf("%d are rolled more than a tenth early", n)
				}
				most := 0
				for range 103 {
					before := len(w.Finished())
					time.Sleep(time.Second)
					most = max(most, len(w.Finished())-before)
				}
				if n := len(w.Finished()); n != 200 || most > 20 {
					t.Errorf("%d of 200 are rolled in time, up to %d in a second", n, most)
				}
				w.Close(s)
				w.MustBeRight()
			})
		})
	}
}
