package sink_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

const takenName = "/logs/b0/part-w-1.json"

// contentOfOne is what a part holds whose only record is c0.
func contentOfOne(t *testing.T) (content []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		w.Close(s)
		content = []byte(w.Published()[0].Content)
	})
	return content
}

// takenWorld is a world in which the first part's name is taken, and whose parts
// have one record each.
func takenWorld(t *testing.T, content []byte) *sinktest.World {
	t.Helper()
	w := sinktest.NewWorld(t)
	w.Change = eachRolls
	if err := w.Store.Write(takenName, content); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestATakenNameIsCompared: a part whose final name has its own bytes already is
// held; any other content is another agent's, and a higher number is used. What is
// there is never touched.
func TestATakenNameIsCompared(t *testing.T) {
	same := contentOfOne(t)
	flipped := append([]byte(nil), same...)
	flipped[len(flipped)/2] ^= 1
	for _, row := range []struct {
		name    string
		content []byte
		held    bool
	}{
		{"the same bytes", same, true},
		{"one bit is another", flipped, false},
		{"a byte less", same[:len(same)-1], false},
		{"a byte more", append(append([]byte(nil), same...), '\n'), false},
		{"empty", nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := takenWorld(t, row.content)
				s := w.Open()
				w.Must(s, sinktest.One("c0", "b0"))
				time.Sleep(time.Minute)
				st := w.Status(s)
				if row.held {
					if len(st.Parts) != 1 || st.Parts[0].State != "held" || !strings.Contains(st.Parts[0].Why, takenName) {
						t.Errorf("%+v", st.Parts)
					}
					if l := w.Log.With("a part is held"); len(l) != 1 || !strings.Contains(l[0].Attrs["do"], "resolve --state-dir /state part 1 done") {
						t.Errorf("%+v", l)
					}
				} else if files := w.Finished(); len(files) != 1 || files[0] != "/logs/b0/part-w-2.json" {
					t.Errorf("published %v, and %+v", files, st.Parts)
				}
				if got, err := w.Store.Read(takenName); err != nil || string(got) != string(row.content) {
					t.Errorf("what was there is %q, %v", got, err)
				}
				if row.held {
					if err := s.Resolve(journal.Resolved{Part: 1, How: journal.AcceptDone}); err != nil {
						t.Error(err)
					}
				}
				w.Close(s)
			})
		})
	}
}

// TestAFolderHasTheName is another content, too.
func TestAFolderHasTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		if err := w.Store.Mkdir(takenName); err != nil {
			t.Fatal(err)
		}
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		w.Close(s)
		w.MustBeRight()
	})
}

// TestAPartThatSomebodyPublished ends as the operator says, in this process or in
// the next, with journaling stopped at any point between; no temp is left.
func TestAPartThatSomebodyPublished(t *testing.T) {
	content := contentOfOne(t)
	for how, files := range map[journal.Resolution]int{journal.AcceptDone: 0, journal.PublishAgain: 1} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint("resolution ", how, ", restarts ", restarts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := takenWorld(t, content)
					s := w.Open()
					w.Must(s, sinktest.One("c0", "b0"))
					time.Sleep(time.Minute)
					if restarts {
						s = restart(w, s)
						time.Sleep(time.Minute)
					}
					if restarts { // so that the next process publishes
						w.Store.SetDown(errors.New("gone"))
					}
					if err := s.Resolve(journal.Resolved{Part: 1, How: how}); err != nil {
						t.Fatal(err)
					}
					if restarts {
						w.Disk = w.Disk.Crash(crashdisk.None, 0)
						_ = s.Close()
						w.Store.SetDown(nil)
						s = w.Open()
					}
					time.Sleep(5 * time.Minute)
					if st := w.Status(s); len(st.Parts) != 0 {
						t.Errorf("%+v", st.Parts)
					}
					w.Close(s)
					if got := w.Finished(); len(got) != files {
						t.Errorf("published %v", got)
					}
					noTemps(t, w)
				})
			})
		}
	}
}

func noTemps(t *testing.T, w *sinktest.World) {
	t.Helper()
	for _, f := range w.Store.Files() {
		if strings.Contains(f.Path, ".inprogress.") {
			t.Errorf("%s is left", f.Path)
		}
	}
}

// TestACrashWhileAPartIsHeld, wherever it comes, leaves the part held, or held
// again, and nothing published.
func TestACrashWhileAPartIsHeld(t *testing.T) {
	content := contentOfOne(t)
	for n, fired := 0, true; fired; n++ {
		synctest.Test(t, func(t *testing.T) {
			w := takenWorld(t, content)
			s := w.Open()
			synctest.Wait()
			inj := faults.StopAfter[crashdisk.Op](n)
			w.Disk.SetInjector(inj)
			accepted := w.Flush(s, sinktest.One("c0", "b0"), sink.FlushOptions{})
			time.Sleep(time.Minute)
			fired = inj.Fired() > 0
			old := w.Disk
			w.Disk = old.Crash(crashdisk.None, uint64(n))
			old.SetHook(nil)
			w.Store.SetDown(errors.New("gone"))
			_ = s.Close()
			w.Store.SetDown(nil)
			s = w.Open()
			time.Sleep(5 * time.Minute)
			st := w.Status(s)
			if accepted && (len(st.Parts) != 1 || st.Parts[0].State != "held") {
				t.Errorf("stopped after %d operations: %+v", n, st.Parts)
			}
			for _, p := range st.Parts {
				if !strings.Contains(p.Why, "very content") {
					t.Errorf("stopped after %d operations: %s", n, p.Why)
				}
				if err := s.Resolve(journal.Resolved{Part: p.Number, How: journal.AcceptDone}); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(5 * time.Minute)
			w.Close(s)
			if got := w.Finished(); len(got) != 0 {
				t.Errorf("stopped after %d operations: published %v", n, got)
			}
		})
	}
}

// TestATakenNameThatCantBeRead is never taken for another content: the part waits
// until it can be.
func TestATakenNameThatCantBeRead(t *testing.T) {
	content := contentOfOne(t)
	for name, action := range map[string]faultfs.Action{
		"refused":       faultfs.FailBefore(fs.Path, nil),
		"away":          faultfs.FailBefore(fs.Target, nil),
		"unclear":       faultfs.FailAfter(nil),
		"cut half way":  faultfs.Half(20, fs.Target, nil),
		"cut at once":   faultfs.Half(0, fs.Unclear, nil),
		"gone, it says": faultfs.FailBefore(fs.Missing, nil),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := takenWorld(t, content)
				w.Inject = faultfs.Times(3, faultfs.Match{Ops: []faultfs.Op{faultfs.Open}, Path: takenName}, action)
				s := w.Open()
				w.Must(s, sinktest.One("c0", "b0"))
				time.Sleep(10 * time.Minute)
				if st := w.Status(s); len(st.Parts) != 1 || st.Parts[0].State != "held" || w.Inject.Fired() != 3 {
					t.Errorf("%+v after %d failures", st.Parts, w.Inject.Fired())
				}
				if err := s.Resolve(journal.Resolved{Part: 1, How: journal.AcceptDone}); err != nil {
					t.Fatal(err)
				}
				w.Close(s)
				if got := w.Finished(); len(got) != 0 {
					t.Errorf("published %v", got)
				}
			})
		})
	}
}

// TestATakenNameThatGetsFree while it is read: a consumer took the file. The part
// has the name then.
func TestATakenNameThatGetsFree(t *testing.T) {
	content := contentOfOne(t)
	synctest.Test(t, func(t *testing.T) {
		w := takenWorld(t, content)
		w.Inject = faultfs.Times(1, faultfs.Match{Ops: []faultfs.Op{faultfs.Open}, Path: takenName}, faultfs.FailBefore(fs.Missing, nil))
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		synctest.Wait()
		if err := w.Store.Delete(takenName); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.Close(s)
		w.MustBeRight()
		if got := w.Finished(); len(got) != 1 || got[0] != takenName {
			t.Errorf("published %v", got)
		}
	})
}
