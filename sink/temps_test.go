package sink_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// TestTempsThatOthersTouch: before the rename whatever happened to a temp leads
// to another upload, and what is published is what was sent. Somebody else's
// file in a temp's place is left alone.
func TestTempsThatOthersTouch(t *testing.T) {
	for _, row := range []struct {
		name  string
		do    func(s *memfs.Store, temp string) error
		after string // which operation on the temp
		held  bool
	}{
		{"deleted after the upload", (*memfs.Store).Delete, "upload", false},
		{"deleted after the check of the upload", (*memfs.Store).Delete, "stat", false},
		{"changed after the upload", change, "upload", false},
		{"changed after the check of the upload", change, "stat", false},
		{"replaced after the upload", replace, "upload", false},
		{"replaced after the check of the upload", replace, "stat", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = eachRolls
				var once sync.Once
				fired := false
				w.Meddle = func(op, temp string) {
					if op == row.after {
						once.Do(func() {
							fired = true
							if err := row.do(w.Store, temp); err != nil {
								t.Error(err)
							}
						})
					}
				}
				s := w.Open()
				w.Must(s, sinktest.One("c0", "b0"))
				time.Sleep(3 * time.Minute)
				w.Close(s)
				w.MustBeRight()
				if !fired {
					t.Error("nobody touched the temp")
				}
				if row.name[0] == 'r' && !slices.ContainsFunc(w.Store.Files(), func(f memfs.File) bool { return string(f.Content) == "stranger\n" }) {
					t.Error("somebody else's file is gone")
				}
			})
		})
	}
}

func change(s *memfs.Store, temp string) error { return s.Write(temp, []byte("changed in place\n")) }

func replace(s *memfs.Store, temp string) error {
	if err := s.Delete(temp); err != nil {
		return err
	}
	return s.Write(temp, []byte("stranger\n"))
}

// TestTempThatIsTouchedBeforeItsRenameIsAnswered: once a rename may have
// happened, a temp that isn't as it was uploaded is no proof of anything.
func TestTempThatIsTouchedBeforeItsRenameIsAnswered(t *testing.T) {
	for name, do := range map[string]func(s *memfs.Store, temp string) error{"changed": change, "replaced": replace, "deleted": (*memfs.Store).Delete} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = eachRolls
				d := &decide{}
				d.f = func(c faultfs.Call) faultfs.Action {
					if c.Op != faultfs.Publish || d.fired > 0 {
						return faultfs.Pass()
					}
					if err := do(w.Store, c.Path); err != nil {
						t.Error(err)
					}
					return faultfs.FailBefore(fs.Unclear, nil)
				}
				w.Inject = d
				s := w.Open()
				w.Must(s, sinktest.One("c0", "b0"))
				time.Sleep(time.Minute)
				st := w.Status(s)
				if len(st.Parts) != 1 || st.Parts[0].State != "held" {
					t.Fatalf("the part is %+v", st.Parts)
				}
				if err := s.Resolve(journal.Resolved{Part: st.Parts[0].Number, How: journal.PublishAgain}); err != nil {
					t.Error(err)
				}
				time.Sleep(3 * time.Minute)
				w.Close(s)
				w.MustBeRight()
				if name == "replaced" && !slices.ContainsFunc(w.Store.Files(), func(f memfs.File) bool { return string(f.Content) == "stranger\n" }) {
					t.Error("somebody else's file is gone")
				}
				if d.Fired() != 1 {
					t.Error("no rename failed")
				}
			})
		})
	}
}

// lateCreate is a target on which the creation of a temp takes effect some time
// after its answer was lost.
type lateCreate struct {
	fs.Driver
	store *memfs.Store
	after time.Duration
	once  sync.Once
	made  chan struct{}
}

func (l *lateCreate) Upload(ctx context.Context, src fs.Source, temp string, o fs.UploadOptions) (info fs.Info, err error) {
	l.once.Do(func() {
		err = &fs.Error{Op: "upload", Path: temp, Class: fs.Unclear, Err: faultfs.ErrInjected}
		go func() {
			defer close(l.made)
			time.Sleep(l.after)
			_ = l.store.Write(temp, []byte("half"))
		}()
	})
	if err != nil {
		return fs.Info{}, err
	}
	return l.Driver.Upload(ctx, src, temp, o)
}

// TestTempThatAppearsLate: a temp that was missing after an unclear answer, and
// appears within a minute, is removed, by the next process too.
func TestTempThatAppearsLate(t *testing.T) {
	for _, row := range []struct {
		name    string
		after   time.Duration
		restart bool
	}{{"at once", 0, false}, {"a little later", 20 * time.Second, false}, {"at the last moment", 55 * time.Second, false},
		{"after a restart", 20 * time.Second, true}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				late := &lateCreate{store: w.Store, after: row.after, made: make(chan struct{})}
				w.Change = func(c *sink.Config) {
					eachRolls(c)
					open := c.OpenTarget
					c.OpenTarget = func(ctx context.Context, name string) (*fs.Client, error) {
						f, err := open(ctx, name)
						late.Driver = f
						return fs.NewClient(late, fs.LimitOptions{}), err
					}
				}
				s := w.Open()
				w.Must(s, sinktest.One("c0", "b0"))
				if row.restart {
					time.Sleep(10 * time.Second)
					w.Close(s)
					s = w.Open()
				}
				<-late.made
				time.Sleep(3 * time.Minute)
				if n := len(w.Finished()); n != 1 {
					t.Errorf("%d files", n)
				}
				if st := w.Status(s); st.LeftoverTemps != 0 {
					t.Errorf("%d temps are left over", st.LeftoverTemps)
				}
				w.Close(s)
				w.MustBeRight()
			})
		})
	}
}

// TestQuotaLeavesNothingBehind: over quota, uploads fail half way for an hour.
// Their temps don't pile up, and nothing half-written is published.
func TestQuotaLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.Policy = sinktest.BySize(300) }
		w.Store.SetQuota("/logs/b0", 100)
		s := w.Open()
		for i := range 20 {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
		}
		time.Sleep(time.Hour)
		files := len(w.Store.Files())
		if puts := w.Count(faultfs.UploadCreate); puts < 50 {
			t.Errorf("only %d uploads were tried", puts)
		}
		if files > 10 {
			t.Errorf("%d files lie around", files)
		}
		w.Store.Allow("/logs/b0")
		time.Sleep(5 * time.Minute)
		w.Close(s)
		w.MustBeRight()
	})
}
