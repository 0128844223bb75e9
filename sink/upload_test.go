package sink_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// decide is an injector made of a function.
type decide struct {
	mu    sync.Mutex
	f     func(faultfs.Call) faultfs.Action
	fired int
}

func (d *decide) Decide(c faultfs.Call) faultfs.Action {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.f(c)
	if a != (faultfs.Action{}) {
		d.fired++
	}
	return a
}

func (d *decide) Fired() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fired
}

func (d *decide) String() string { return "a test's own" }

// eachRolls is a policy under which each chunk makes parts.
func eachRolls(c *sink.Config) { c.Policy = sinktest.BySize(1) }

// partOf is the number of the part whose temp it is, 0 if it is none.
func partOf(temp string) int {
	name, _, ok := strings.Cut(path.Base(temp), ".inprogress.")
	if !ok {
		return 0
	}
	return numberOf(strings.TrimPrefix(name, "."))
}

// TestUploadsAtATime: there are never more than `uploads`, and the oldest parts
// come first.
func TestUploadsAtATime(t *testing.T) {
	for _, uploads := range []int{1, 3} {
		t.Run(fmt.Sprint(uploads), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				var mu sync.Mutex
				var order []int
				w.Inject = &decide{f: func(c faultfs.Call) faultfs.Action {
					mu.Lock()
					defer mu.Unlock()
					switch c.Op {
					case faultfs.UploadCreate:
						order = append(order, partOf(c.Path))
						return faultfs.Delay(time.Second)
					case faultfs.Publish:
						return faultfs.Delay(time.Second)
					}
					return faultfs.Pass()
				}}
				w.Change = func(c *sink.Config) { eachRolls(c); c.Uploads = uploads; c.Workers = 1 }
				w.Store.SetDown(errors.New("connection refused"))
				s := w.Open()
				for i := range 12 {
					w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
				}
				time.Sleep(5 * time.Minute)
				w.Store.SetDown(nil)
				mu.Lock()
				order = nil
				mu.Unlock()
				began := time.Now()
				w.Close(s)
				took := time.Since(began)
				w.MustBeRight()
				if !slices.IsSortedFunc(order, func(a, b int) int {
					if uploads > 1 && a-b < uploads && b-a < uploads {
						return 0 // which of several at a time begins first is anybody's guess
					}
					return a - b
				}) {
					t.Errorf("parts were uploaded in the order %v", order)
				}
				least := time.Duration(12/uploads) * 2 * time.Second
				if took < least || took > least+40*time.Second {
					t.Errorf("12 parts, %d at a time, took %v", uploads, took)
				}
			})
		})
	}
}

// lines are the lines of a level and above, without their times.
func lines(w *sinktest.World, level slog.Level) (out []string) {
	for _, l := range w.Log.AtLeast(level) {
		out = append(out, l.Level.String()+" "+l.Text)
	}
	return out
}

// TestTargetInTrouble: one line when it begins and one when it ends, however
// long that takes; one probe at a time, in growing and jittered intervals; and
// chunks are accepted all the while.
func TestTargetInTrouble(t *testing.T) {
	for name, class := range map[string]fs.Class{"it can't be reached": fs.Target, "its answers are lost": fs.Unclear} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				down := true
				var busy, most atomic.Int64
				var probes []time.Time
				d := &decide{}
				d.f = func(c faultfs.Call) faultfs.Action {
					if !down {
						return faultfs.Pass()
					}
					probes = append(probes, time.Now())
					return faultfs.FailBefore(class, errors.New("connection refused"))
				}
				w.Inject = d
				w.Change = func(c *sink.Config) {
					eachRolls(c)
					open := c.OpenTarget
					c.OpenTarget = func(ctx context.Context, name string) (*fs.Client, error) {
						f, err := open(ctx, name)
						return fs.NewClient(&concurrency{Driver: f, busy: &busy, most: &most}, fs.LimitOptions{}), err
					}
				}
				s := w.Open()
				for i := range 40 {
					w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i%3)))
					time.Sleep(time.Minute)
				}
				if n := w.Log.Count("the target is in trouble"); n != 1 {
					t.Errorf("%d lines that there is trouble", n)
				}
				if st := w.Status(s); len(st.Troubles) == 0 || st.Troubles[0].Target != "mem://" || st.Troubles[0].Bucket != "" {
					t.Errorf("status says of the trouble %+v", st.Troubles)
				}
				if len(probes) < 60 || len(probes) > 250 {
					t.Errorf("%d probes in 40 minutes", len(probes))
				}
				gaps := map[time.Duration]bool{}
				late := probes[len(probes)/2:]
				for i := 1; i < len(late); i++ {
					gaps[late[i].Sub(late[i-1])] = true
				}
				if len(gaps) < 5 {
					t.Errorf("the probes have no jitter: %v", gaps)
				}
				most.Store(0)
				d.mu.Lock()
				down = false
				d.mu.Unlock()
				time.Sleep(2 * time.Minute)
				if n := w.Log.Count("the target works again"); n != 1 {
					t.Errorf("%d lines that the trouble is over", n)
				}
				if st := w.Status(s); len(st.Troubles) != 0 {
					t.Errorf("status still says %+v", st.Troubles)
				}
				w.Close(s)
				w.MustBeRight()
				for _, l := range w.Log.AtLeast(slog.LevelWarn) {
					if l.Attrs["do"] == "" {
						t.Errorf("a line doesn't say what to do: %v", l)
					}
				}
			})
		})
	}
}

// concurrency counts calls under way.
type concurrency struct {
	fs.Driver
	busy, most *atomic.Int64
}

func (c *concurrency) add(n int64) {
	now := c.busy.Add(n)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
}

func (c *concurrency) Upload(ctx context.Context, src fs.Source, temp string, o fs.UploadOptions) (fs.Info, error) {
	c.add(1)
	defer c.add(-1)
	return c.Driver.Upload(ctx, src, temp, o)
}

func (c *concurrency) Discard(ctx context.Context, p string) error {
	c.add(1)
	defer c.add(-1)
	return c.Driver.Discard(ctx, p)
}

// TestOneProbeAtATime: while the target is in trouble only one part tries it.
func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		var busy, most atomic.Int64
		var begins []time.Time
		d := &decide{f: func(c faultfs.Call) faultfs.Action {
			begins = append(begins, time.Now())
			return faultfs.Delay(10 * time.Second)
		}}
		w.Inject = d
		w.Change = func(c *sink.Config) {
			eachRolls(c)
			c.Uploads = 4
			c.ExitTimeout = time.Hour
			open := c.OpenTarget
			c.OpenTarget = func(ctx context.Context, name string) (*fs.Client, error) {
				f, err := open(ctx, name)
				return fs.NewClient(&concurrency{Driver: f, busy: &busy, most: &most}, fs.LimitOptions{}), err
			}
		}
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		for i := range 12 {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
		}
		time.Sleep(15 * time.Second) // the first four have failed
		if most.Load() != 4 {
			t.Errorf("%d uploads at a time", most.Load())
		}
		// Four failures at a time are one: the first probe comes soon.
		d.mu.Lock()
		if len(begins) != 5 || begins[4].Sub(begins[3]) > 10250*time.Millisecond {
			t.Errorf("operations began at %v", begins)
		}
		d.mu.Unlock()
		most.Store(0)
		time.Sleep(10 * time.Minute)
		if most.Load() != 1 {
			t.Errorf("%d probes at a time", most.Load())
		}
		w.Store.SetDown(nil)
		w.Close(s)
		w.MustBeRight()
		if d.Fired() == 0 {
			t.Error("nothing was slow")
		}
	})
}

// TestRefusedBucketHindersNoOther: a quota or permission backs off its bucket
// alone, with one line when it begins and one when it ends.
func TestRefusedBucketHindersNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		w.Store.Refuse("/logs/b0", nil)
		s := w.Open()
		for i := range 30 {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i%3)))
			time.Sleep(10 * time.Second)
		}
		if n := len(w.Finished()); n != 20 {
			t.Errorf("%d files of the other buckets", n)
		}
		st := w.Status(s)
		if len(st.Troubles) != 1 || st.Troubles[0].Bucket != "/logs/b0" {
			t.Errorf("status says of the trouble %+v", st.Troubles)
		}
		w.Store.Allow("/logs/b0")
		time.Sleep(2 * time.Minute)
		if n := len(w.Finished()); n != 30 {
			t.Errorf("%d files in the end", n)
		}
		w.Close(s)
		w.MustBeRight()
		want := []string{"ERROR the target refuses a bucket; its parts wait, others go on", "INFO the bucket can be written again"}
		if got := lines(w, slog.LevelInfo); !slices.Equal(got, want) {
			t.Errorf("the log is %q", got)
		}
	})
}

// TestOnePartsTroubleHindersNoOther: one part whose upload never gets a clear
// answer keeps nobody waiting, though it is the oldest.
func TestOnePartsTroubleHindersNoOther(t *testing.T) {
	for name, class := range map[string]fs.Class{"unclear": fs.Unclear, "missing": fs.Missing} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				poison := true
				d := &decide{}
				d.f = func(c faultfs.Call) faultfs.Action {
					if poison && c.Op == faultfs.UploadClose && partOf(c.Path) == 1 {
						return faultfs.FailBefore(class, errors.New("a strange answer"))
					}
					return faultfs.Pass()
				}
				w.Inject = d
				w.Change = func(c *sink.Config) { eachRolls(c); c.Uploads = 1 }
				s := w.Open()
				for i := range 60 {
					w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
					if i >= 3 {
						time.Sleep(10 * time.Second)
					}
				}
				var order []int
				for _, c := range w.Calls() {
					if c.Op == faultfs.UploadCreate {
						order = append(order, partOf(c.Path))
					}
				}
				if i := slices.Index(order, 1); order[i+1] == 1 {
					t.Errorf("the parts were tried in the order %v", order[:5])
				}
				if n := len(w.Finished()); n < 58 {
					t.Errorf("%d of 59 other files: %v", n, lines(w, slog.LevelDebug))
				}
				if n := w.Log.Count("while others can"); n != 1 {
					t.Errorf("%d lines about the part", n)
				}
				if n := w.Log.Count("in trouble"); n > 2 {
					t.Errorf("%d lines about the target", n)
				}
				d.mu.Lock()
				poison = false
				d.mu.Unlock()
				w.Close(s)
				w.MustBeRight()
				if d.Fired() < 3 {
					t.Errorf("the part failed %d times", d.Fired())
				}
			})
		})
	}
}

// TestHungTargetOfAnEarlierConfiguration: parts that were rolled for a target
// that hangs don't keep those for today's from being published.
func TestHungTargetOfAnEarlierConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.Target = "mem://old"; c.ExitTimeout = time.Second }
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		for i := range 6 {
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), "b0"))
		}
		w.Close(s)
		w.Store.SetDown(nil)
		hang := make(chan struct{})
		w.Change = func(c *sink.Config) {
			eachRolls(c)
			c.Uploads = 1
			open := c.OpenTarget
			c.OpenTarget = func(ctx context.Context, name string) (*fs.Client, error) {
				f, err := open(ctx, name)
				if name == "mem://old" {
					return fs.NewClient(faultfs.New(f, faultfs.Every(faultfs.Match{}, faultfs.Hang(hang))), fs.LimitOptions{}), err
				}
				return f, err
			}
		}
		s = w.Open()
		for i := range 6 {
			w.Must(s, sinktest.One(fmt.Sprintf("c1%d", i), "b1"))
		}
		time.Sleep(10 * time.Second)
		if n := len(w.Finished()); n != 6 {
			t.Errorf("%d files for today's target", n)
		}
		close(hang)
		w.Close(s)
		w.MustBeRight()
	})
}
