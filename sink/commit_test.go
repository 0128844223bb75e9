package sink_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/localfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// lost is a rename that happens and whose answer is lost, once.
func lost() faultfs.Injector {
	return faultfs.Times(1, faultfs.On(faultfs.Publish), faultfs.FailAfter(nil))
}

// TestRenameWhoseAnswerIsLost: what a consumer does with the file meanwhile
// decides, and where nothing can be known the part is held, not guessed.
func TestRenameWhoseAnswerIsLost(t *testing.T) {
	for _, row := range []struct {
		name    string
		noFind  bool
		consume func(s *memfs.Store, p string) error
		held    bool
	}{
		{"the file stays", false, nil, false},
		{"the file stays, without look-ups by identity", true, nil, false},
		{"a consumer moves it", false, func(s *memfs.Store, p string) error { return s.Move(p, "/consumed/x") }, false},
		{"a consumer renames it in its bucket", false, func(s *memfs.Store, p string) error { return s.Move(p, p+".done") }, false},
		{"a consumer moves it, without look-ups by identity", true, func(s *memfs.Store, p string) error { return s.Move(p, "/consumed/x") }, true},
		{"a consumer deletes it", false, func(s *memfs.Store, p string) error { return s.Delete(p) }, true},
		{"a consumer deletes it and writes another there", false, func(s *memfs.Store, p string) error {
			if err := s.Delete(p); err != nil {
				return err
			}
			return s.Write(p, []byte("stranger\n"))
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorldOn(t, memfs.Options{NoSearch: row.noFind})
				w.Change = eachRolls
				w.Inject = lost()
				w.Consume = func(p string) bool {
					if row.consume == nil {
						return false
					}
					if err := row.consume(w.Store, p); err != nil {
						t.Error(err)
					}
					return true
				}
				s := w.Open()
				w.Must(s, sinktest.One("c0", "b0"))
				time.Sleep(time.Minute)
				st := w.Status(s)
				if held := len(st.Parts) == 1 && st.Parts[0].State == "held"; held != row.held {
					t.Errorf("held is %v: %+v", held, st.Parts)
				}
				if n := w.Log.Count("a part is held"); n > 1 || (n == 1) != row.held {
					t.Errorf("%d lines that it is held", n)
				}
				w.Close(s)
				w.MustBeRight()
				if w.Inject.Fired() != 1 {
					t.Error("no answer was lost")
				}
			})
		})
	}
}

// TestNamesThatAreTaken: another writer's file is never replaced, our numbers
// only grow, and one that took thousands costs few attempts.
func TestNamesThatAreTaken(t *testing.T) {
	for _, taken := range []int{1, 3, 5000} {
		t.Run(fmt.Sprint(taken), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = eachRolls
				for n := range taken {
					if err := w.Store.Write(fmt.Sprintf("/logs/b0/part-w-%d.json", n+1), []byte("stranger\n")); err != nil {
						t.Fatal(err)
					}
				}
				s := w.Open()
				for i := range 5 {
					w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
					time.Sleep(time.Minute)
				}
				w.Close(s)
				w.MustBeRight()
				last := taken
				for _, p := range w.Finished() {
					if n := numberOf(p); n <= last {
						t.Errorf("%s came after number %d", p, last)
					} else {
						last = n
					}
				}
				if n := w.Log.Count("a final name is taken"); n == 0 || n > 25 {
					t.Errorf("%d lines about it", n)
				}
			})
		})
	}
}

// TestLateRename: a rename that takes effect when nobody expects it any more,
// while the next one is tried, publishes once.
func TestLateRename(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 300 * time.Millisecond, time.Minute} {
		for _, name := range []string{"free", "taken"} {
			t.Run(fmt.Sprint(name, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := sinktest.NewWorld(t)
					w.Change = eachRolls
					w.Inject = faultfs.First(
						faultfs.Times(1, faultfs.On(faultfs.Publish), faultfs.Late(nil)),
						faultfs.Times(3, faultfs.On(faultfs.Publish), faultfs.FailBefore(fs.Target, nil)))
					if name == "taken" { // until the late one lands
						if err := w.Store.Write("/logs/b0/part-w-1.json", []byte("stranger\n")); err != nil {
							t.Fatal(err)
						}
					}
					s := w.Open()
					w.Must(s, sinktest.One("c0", "b0"))
					synctest.Wait()
					time.Sleep(after)
					if name == "taken" {
						if err := w.Store.Delete("/logs/b0/part-w-1.json"); err != nil {
							t.Error(err)
						}
					}
					w.Land()
					time.Sleep(3 * time.Minute)
					w.Close(s)
					w.MustBeRight()
					if w.Inject.Fired() < 2 {
						t.Errorf("%d faults fired", w.Inject.Fired())
					}
				})
			})
		}
	}
}

// halfMoved is a local file system on which the first renames end between the
// two steps of a move by hard links: the file has both names.
type halfMoved struct {
	fs.Driver
	mu    sync.Mutex
	left  int
	first string // the name of another that was tried first
	late  bool   // the first rename takes effect when the second is tried
}

func (h *halfMoved) Publish(ctx context.Context, from fs.Info, to string, o fs.PublishOptions) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.late {
		if h.first == "" {
			h.first = to
			return &fs.Error{Op: "publish", Path: from.Path, Class: fs.Exists, Err: os.ErrExist}
		}
		h.late = false
		if err := errors.Join(os.Remove(h.first), os.Link(from.Path, h.first)); err != nil {
			return err
		}
		return &fs.Error{Op: "publish", Path: from.Path, Class: fs.Unclear, Err: faultfs.ErrInjected}
	}
	if h.left > 0 {
		h.left--
		if err := os.Link(from.Path, to); err != nil && !os.IsExist(err) {
			return err
		}
		return &fs.Error{Op: "publish", Path: from.Path, Class: fs.Unclear, Err: faultfs.ErrInjected}
	}
	return h.Driver.Publish(ctx, from, to, o)
}

// TestFileWithBothNames: a move by hard links that ended half way is finished
// where it went, by this process and by the next, and never to a second name.
func TestFileWithBothNames(t *testing.T) {
	for _, row := range []struct {
		name    string
		left    int
		taken   bool // the first name is another's
		restart bool
		late    bool
	}{
		{"once", 1, false, false, false}, {"three times", 3, false, false, false}, {"on the second name", 2, true, false, false},
		{"and a restart", 1 << 20, false, true, false}, {"late, on the first of two names", 0, true, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			half := &halfMoved{Driver: localfs.New(localfs.Options{}), left: row.left, late: row.late}
			w := sinktest.NewWorld(t)
			w.Change = func(c *sink.Config) {
				eachRolls(c)
				c.Base, c.Target, c.ExitTimeout = dir, "file://", 3*time.Second
				c.OpenTarget = func(context.Context, string) (*fs.Client, error) { return fs.NewClient(half, fs.LimitOptions{}), nil }
			}
			if row.taken {
				if err := os.MkdirAll(filepath.Join(dir, "b0"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "b0/part-w-1.json"), []byte("stranger\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s := w.Open()
			w.Must(s, sinktest.One("c0", "b0"))
			w.Close(s)
			if row.restart {
				half.left = 0
				half.Driver = localfs.New(localfs.Options{})
				w.Close(w.Open())
			}
			names, err := os.ReadDir(filepath.Join(dir, "b0"))
			if err != nil {
				t.Fatal(err)
			}
			ours := 0
			for _, e := range names {
				content, err := os.ReadFile(filepath.Join(dir, "b0", e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(content), "c0") {
					ours++
				}
				if strings.HasPrefix(e.Name(), ".") {
					t.Errorf("%s is left", e.Name())
				}
			}
			if ours != 1 {
				t.Errorf("the record is in %d of %v", ours, names)
			}
		})
	}
}

// TestFinishIsRemembered: the journal fails just after the rename, and a
// consumer deletes the file at once. The rename was answered, so nothing is in
// doubt.
func TestFinishIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		var mu sync.Mutex
		broken, fired := false, 0
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			mu.Lock()
			defer mu.Unlock()
			if broken && strings.HasPrefix(op.Name, "journal") {
				fired++
				return faults.Before(faultfs.ErrInjected)
			}
			return faults.Pass()
		})
		w.Consume = func(p string) bool {
			mu.Lock()
			broken = true
			mu.Unlock()
			return w.Store.Delete(p) == nil
		}
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		time.Sleep(time.Minute)
		mu.Lock()
		broken = false
		mu.Unlock()
		time.Sleep(time.Minute)
		if st := w.Status(s); len(st.Parts) != 0 || st.Finished.Parts != 1 {
			t.Errorf("%+v", st)
		}
		if fired == 0 {
			t.Error("the journal didn't fail")
		}
		for _, text := range []string{"the journal can't be written", "the journal can be written again"} {
			if n := w.Log.Count(text); n != 1 {
				t.Errorf("%d lines that %s", n, text)
			}
		}
		w.Close(s)
		w.MustBeRight()
	})
}
