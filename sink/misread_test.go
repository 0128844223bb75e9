package sink_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestWhatIsReadWrongIsReadAgain: one wrong bit in what the kernel remembers of a
// file, while the disk has the right ones, costs no record and holds no part,
// whichever file of the state it is and whenever it is read.
func TestWhatIsReadWrongIsReadAgain(t *testing.T) {
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte {
			if at < 0 {
				at = bytes.Index(b, []byte("c2"))
			}
			b[at%len(b)] ^= 4
			return b
		}
	}
	for name, row := range map[string]struct {
		is  func(file string, content []byte) bool
		at  []int
		cut bool // a new process reads it
	}{
		"a chunk that is decoded":     {is: func(n string, _ []byte) bool { return isSegment(n) }, at: []int{-1, 300, 700}},
		"a header at a start":         {is: func(n string, _ []byte) bool { return isSegment(n) }, at: []int{3, 17, 50}, cut: true},
		"a snapshot at a start":       {is: func(n string, _ []byte) bool { return isSegment(n) }, at: []int{64, 90, 120}, cut: true},
		"frames at a start":           {is: func(n string, c []byte) bool { return isSegment(n) && bytes.Contains(c, []byte("c3")) }, at: []int{400, 500, 600, 700, 800, 900}, cut: true},
		"a staged file":               {is: func(n string, _ []byte) bool { return strings.HasPrefix(n, "staged/") }, at: []int{0, 7, 20}},
		"a staged file after a start": {is: func(n string, _ []byte) bool { return strings.HasPrefix(n, "staged/") }, at: []int{0, 7, 20}, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range row.at {
				synctest.Test(t, func(t *testing.T) {
					w := sinktest.NewWorld(t)
					w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
					w.Store.SetDown(errors.New("connection refused"))
					s := w.Open()
					for _, id := range []string{"c0", "c1", "c2", "c3"} {
						w.Must(s, sinktest.One(id, "b0"))
					}
					if !strings.HasPrefix(name, "a chunk") {
						time.Sleep(time.Minute) // the parts are pending
					}
					if row.cut {
						w.Close(s)
					}
					changed := 0
					for _, n := range w.Disk.Names() {
						if row.is(n, w.Disk.Content(n)) {
							if err := w.Disk.Misread(n, flip(at)); err != nil {
								t.Fatal(err)
							}
							changed++
						}
					}
					if changed == 0 {
						t.Fatal("no such file")
					}
					if row.cut {
						s = w.Open()
					}
					w.Store.SetDown(nil)
					time.Sleep(10 * time.Minute)
					if st := w.Status(s); len(st.Parts) > 0 || st.UnfinishedChunks > 0 {
						t.Errorf("at %d: %+v", at, st.Parts)
					}
					w.Close(s)
					w.MustBeRight()
					for _, l := range w.Log.With("damage") {
						t.Errorf("at %d: %s", at, l)
					}
				})
			}
		})
	}
}
