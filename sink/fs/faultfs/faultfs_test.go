package faultfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/fstest"
	"github.com/out-hdfs/out_hdfs/sink/fs/localfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

var publishing = fs.PublishOptions{DirMode: 0o755}

var options = fs.UploadOptions{FileMode: 0o644, DirMode: 0o755}

func TestConformanceWithoutFaults(t *testing.T) {
	store := memfs.New(memfs.Options{})
	fstest.Run(t, fstest.Harness{
		Open:   func(testing.TB) fs.Driver { return faultfs.New(store.Driver(), faultfs.None()) },
		Reader: func(testing.TB) fs.Reader { return store.Driver() },
		Dir: func(t testing.TB) string {
			dir := "/" + t.Name()
			if err := store.Mkdir(dir); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		Search: true,
		Tick:   2 * time.Millisecond,
	})
}

// slice is what both drivers read at a time.
const slice = 1 << 20

// content takes three slices.
var content = strings.Repeat("0123456789abcdef", 5*slice/2/16)

// TestUpload says what a driver leaves behind for each fault at each step.
func TestUpload(t *testing.T) {
	lost := faultfs.FailAfter(nil)
	gone := faultfs.FailBefore(fs.Target, nil)
	for _, row := range []struct {
		name   string
		inj    faultfs.Injector
		size   int // of the source
		class  fs.Class
		left   int  // bytes at the path, -1 if nothing is there
		closed bool // on the target that knows
	}{
		{"create before", faultfs.Every(faultfs.On(faultfs.UploadCreate), gone), len(content), fs.Target, -1, false},
		{"create after", faultfs.Every(faultfs.On(faultfs.UploadCreate), lost), len(content), fs.Unclear, 0, false},
		{"create after, empty file", faultfs.Every(faultfs.On(faultfs.UploadCreate), lost), 0, fs.Unclear, 0, false},
		{"first slice before", faultfs.Nth(1, gone), len(content), fs.Target, 0, false},
		{"first slice after", faultfs.Nth(1, lost), len(content), fs.Unclear, slice, false},
		{"second slice before", faultfs.Nth(2, gone), len(content), fs.Target, slice, false},
		{"second slice half", faultfs.Nth(2, faultfs.Half(100, fs.Path, nil)), len(content), fs.Path, slice + 100, false},
		{"last slice after", faultfs.Nth(3, lost), len(content), fs.Unclear, len(content), false},
		{"half of more than there is", faultfs.Nth(3, faultfs.Half(1<<30, fs.Unclear, nil)), len(content), fs.Unclear, len(content), false},
		{"close before", faultfs.Every(faultfs.On(faultfs.UploadClose), gone), len(content), fs.Target, len(content), false},
		{"close before, empty file", faultfs.Every(faultfs.On(faultfs.UploadClose), gone), 0, fs.Target, 0, false},
		{"close after", faultfs.Every(faultfs.On(faultfs.UploadClose), lost), len(content), fs.Unclear, len(content), true},
		{"close after, empty file", faultfs.Every(faultfs.On(faultfs.UploadClose), lost), 0, fs.Unclear, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			store, dir := memfs.New(memfs.Options{}), t.TempDir()
			for _, below := range []struct {
				fs    fs.Driver
				path  string
				knows bool
			}{{store.Driver(), "/d/a", true}, {localfs.New(localfs.Options{}), dir + "/d/a", false}} {
				inj := faultfs.First(row.inj) // counted anew below
				before := inj.Fired()
				f := faultfs.New(below.fs, inj)
				_, err := f.Upload(t.Context(), strings.NewReader(content[:row.size]), below.path, options)
				if err == nil || fs.ClassOf(err) != row.class || !errors.Is(err, faultfs.ErrInjected) {
					t.Errorf("Upload answers %v, want class %v", err, row.class)
				}
				if fired := inj.Fired() - before; fired != 1 {
					t.Errorf("%v fired %d times", inj, fired)
				}
				info, err := below.fs.Stat(t.Context(), below.path)
				if row.left < 0 {
					if err == nil || fs.ClassOf(err) != fs.Missing {
						t.Errorf("left is %+v, %v, want nothing", info, err)
					}
				} else if err != nil || info.Length != int64(row.left) || below.knows && info.Closed != row.closed {
					t.Errorf("left is %+v, %v, want %d bytes, closed %v", info, err, row.left, row.closed)
				}
			}
		})
	}
}

func TestUploadCountsItsSteps(t *testing.T) {
	for size, want := range map[int][]faultfs.Op{
		0:            {faultfs.UploadCreate, faultfs.UploadClose},
		1:            {faultfs.UploadCreate, faultfs.UploadWrite, faultfs.UploadClose},
		slice:        {faultfs.UploadCreate, faultfs.UploadWrite, faultfs.UploadClose},
		slice + 1:    {faultfs.UploadCreate, faultfs.UploadWrite, faultfs.UploadWrite, faultfs.UploadClose},
		len(content): {faultfs.UploadCreate, faultfs.UploadWrite, faultfs.UploadWrite, faultfs.UploadWrite, faultfs.UploadClose},
	} {
		f := faultfs.New(memfs.New(memfs.Options{}).Driver(), faultfs.None())
		if _, err := f.Upload(t.Context(), strings.NewReader(content[:size]), "/a", options); err != nil {
			t.Fatal(err)
		}
		var ops []faultfs.Op
		for _, c := range f.Calls() {
			ops = append(ops, c.Op)
		}
		if !slices.Equal(ops, want) {
			t.Errorf("%d bytes are %v, want %v", size, ops, want)
		}
	}
}

func TestUploadPassesTheDriversOwnError(t *testing.T) {
	store := memfs.New(memfs.Options{})
	store.SetQuota("/", 10)
	f := faultfs.New(store.Driver(), faultfs.Every(faultfs.On(faultfs.UploadClose), faultfs.FailAfter(nil)))
	_, err := f.Upload(t.Context(), strings.NewReader(content), "/a", options)
	if err == nil || fs.ClassOf(err) != fs.Path || errors.Is(err, faultfs.ErrInjected) {
		t.Errorf("Upload answers %v", err)
	}
}

// acts are one operation each on a store that has a file /d/a, and whether it
// took effect.
var acts = []struct {
	op       faultfs.Op
	act      func(ctx context.Context, f fs.Driver, s *memfs.Store) error
	happened func(s *memfs.Store) bool // nil if there is no effect to see
}{
	{faultfs.Publish, func(ctx context.Context, f fs.Driver, _ *memfs.Store) error {
		return f.Publish(ctx, fs.Info{Path: "/d/a"}, "/d/b", publishing)
	}, func(s *memfs.Store) bool { return s.Files()[0].Path == "/d/b" }},
	{faultfs.Discard, func(ctx context.Context, f fs.Driver, _ *memfs.Store) error {
		return f.Discard(ctx, "/d/a")
	}, func(s *memfs.Store) bool { return len(s.Files()) == 0 }},
	{faultfs.Stat, func(ctx context.Context, f fs.Driver, _ *memfs.Store) error {
		_, err := f.Stat(ctx, "/d/a")
		return err
	}, nil},
	{faultfs.Open, func(ctx context.Context, f fs.Driver, _ *memfs.Store) error {
		r, err := f.Open(ctx, "/d/a")
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.ReadAll(r)
		return err
	}, nil},
	{faultfs.LocateBegin, locate, nil},
	{faultfs.LocateEnd, locate, nil},
}

// TestReadingThatFailsHalfWay gives what comes before, and then the error.
func TestReadingThatFailsHalfWay(t *testing.T) {
	f := faultfs.New(stored(t).Driver(), faultfs.Every(faultfs.On(faultfs.Open), faultfs.Half(3, fs.Target, nil)))
	r, err := f.Open(t.Context(), "/d/a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if string(got) != "con" || !errors.Is(err, faultfs.ErrInjected) || fs.ClassOf(err) != fs.Target {
		t.Errorf("read %q, %v", got, err)
	}
}

func locate(ctx context.Context, f fs.Driver, _ *memfs.Store) error {
	_, err := f.Locate(ctx, "", "/d/a")
	return err
}

// stored is a store with one file.
func stored(t *testing.T) *memfs.Store {
	t.Helper()
	s := memfs.New(memfs.Options{})
	if err := s.Write("/d/a", []byte("content")); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryOperationFailsAsTold(t *testing.T) {
	errMine := errors.New("mine")
	for _, row := range []struct {
		action   faultfs.Action
		class    fs.Class
		happens  bool
		happened bool // after Land
	}{
		{faultfs.FailBefore(fs.Target, errMine), fs.Target, false, false},
		{faultfs.FailBefore(fs.Path, errMine), fs.Path, false, false},
		{faultfs.FailAfter(errMine), fs.Unclear, true, true},
		{faultfs.Half(3, fs.Unclear, errMine), fs.Unclear, false, false},
		{faultfs.Late(errMine), fs.Unclear, false, true},
	} {
		for _, a := range acts {
			t.Run(fmt.Sprint(a.op, " ", row.action), func(t *testing.T) {
				store := stored(t)
				inj := faultfs.Every(faultfs.On(a.op), row.action)
				f := faultfs.New(store.Driver(), inj)
				err := a.act(t.Context(), f, store)
				if !errors.Is(err, errMine) || fs.ClassOf(err) != row.class || inj.Fired() != 1 {
					t.Errorf("answer %v, want class %v; fired %d times", err, row.class, inj.Fired())
				}
				if a.happened == nil {
					return
				}
				if got := a.happened(store); got != row.happens {
					t.Errorf("took effect at once: %v, want %v", got, row.happens)
				}
				for _, err := range f.Land() {
					if err != nil {
						t.Error(err)
					}
				}
				if got := a.happened(store); got != row.happened {
					t.Errorf("took effect in the end: %v, want %v", got, row.happened)
				}
			})
		}
	}
}

func TestLateAfterTheCallersContextEnded(t *testing.T) {
	store := stored(t)
	f := faultfs.New(store.Driver(), faultfs.Nth(0, faultfs.Late(nil)))
	ctx, cancel := context.WithCancel(t.Context())
	if err := f.Publish(ctx, fs.Info{Path: "/d/a"}, "/d/b", publishing); err == nil {
		t.Fatal("no error")
	}
	cancel()
	if answers := f.Land(); len(answers) != 1 || answers[0] != nil {
		t.Errorf("Land answers %v", answers)
	}
	if got := store.Files()[0].Path; got != "/d/b" {
		t.Errorf("the file is at %s", got)
	}
	if again := f.Land(); len(again) != 0 {
		t.Errorf("a second Land answers %v", again)
	}
}

func TestHang(t *testing.T) {
	for _, a := range acts {
		t.Run(a.op.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, release := stored(t), make(chan struct{})
				f := faultfs.New(store.Driver(), faultfs.Every(faultfs.On(a.op), faultfs.Hang(release)))

				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begin := time.Now()
				if err := a.act(ctx, f, store); !errors.Is(err, context.DeadlineExceeded) || fs.ClassOf(err) != fs.Unclear {
					t.Errorf("answer %v", err)
				}
				if d := time.Since(begin); d != time.Hour {
					t.Errorf("it hung for %v", d)
				}
				if a.happened != nil && a.happened(store) {
					t.Error("it took effect")
				}

				answer := make(chan error, 1)
				go func() { answer <- a.act(t.Context(), f, store) }()
				synctest.Wait()
				if len(answer) != 0 {
					t.Error("it doesn't hang")
				}
				close(release)
				if err := <-answer; err != nil {
					t.Error(err)
				}
				if a.happened != nil && !a.happened(store) {
					t.Error("it took no effect")
				}
			})
		})
	}
}

func TestHangInTheMiddleOfAnUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memfs.New(memfs.Options{})
		f := faultfs.New(store.Driver(), faultfs.Nth(2, faultfs.Hang(nil)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := f.Upload(ctx, strings.NewReader(content), "/a", options)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Upload answers %v", err)
		}
		if files := store.Files(); len(files) != 1 || files[0].Length != slice || files[0].Closed {
			t.Errorf("left is %+v", files)
		}
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := faultfs.New(stored(t).Driver(), faultfs.Every(faultfs.Match{}, faultfs.Delay(time.Second)))
		begin := time.Now()
		if _, err := f.Stat(t.Context(), "/d/a"); err != nil {
			t.Error(err)
		}
		if d := time.Since(begin); d != time.Second {
			t.Errorf("it took %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := f.Stat(ctx, "/d/a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("answer %v", err)
		}
	})
}

// asked counts how often a driver is asked to locate.
type asked struct {
	fs.Driver
	n int
}

func (a *asked) Locate(ctx context.Context, id fs.FileID, names ...string) (fs.Place, error) {
	a.n++
	return a.Driver.Locate(ctx, id, names...)
}

func TestLocateWithALostBracket(t *testing.T) {
	for op, want := range map[faultfs.Op]int{faultfs.LocateBegin: 0, faultfs.LocateEnd: 1} {
		below := &asked{Driver: stored(t).Driver()}
		f := faultfs.New(below, faultfs.Every(faultfs.On(op), faultfs.FailBefore(fs.Target, nil)))
		place, err := f.Locate(t.Context(), "", "/d/a")
		if !errors.Is(err, faultfs.ErrInjected) || below.n != want || len(place.Names) != 0 {
			t.Errorf("%v: answer %+v, %v; asked below %d times", op, place, err, below.n)
		}
	}
}

// TestLocatePassesTheDriversOwnError: what is missing only because the driver
// couldn't look isn't missing.
func TestLocatePassesTheDriversOwnError(t *testing.T) {
	store := stored(t)
	store.SetDown(errors.New("gone"))
	f := faultfs.New(store.Driver(), faultfs.Every(faultfs.On(faultfs.LocateEnd), faultfs.FailAfter(nil)))
	place, err := f.Locate(t.Context(), "", "/d/a")
	if err == nil || fs.ClassOf(err) != fs.Target || errors.Is(err, faultfs.ErrInjected) || len(place.Names) != 0 {
		t.Errorf("answer %+v, %v", place, err)
	}
}

// publish is a commit such as a sink makes.
func publish(ctx context.Context, f fs.Driver) error {
	info, err := f.Upload(ctx, strings.NewReader(content), "/d/.a", options)
	if err != nil {
		return err
	}
	if _, err := f.Stat(ctx, "/d/.a"); err != nil {
		return err
	}
	return f.Publish(ctx, info, "/d/a", publishing)
}

func TestForEachReachesEveryOperation(t *testing.T) {
	counted := faultfs.New(memfs.New(memfs.Options{}).Driver(), faultfs.None())
	if err := publish(t.Context(), counted); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		make func(n int) faultfs.Injector
		err  error
	}{
		{"before", func(n int) faultfs.Injector { return faultfs.Nth(n, faultfs.FailBefore(fs.Target, nil)) }, faultfs.ErrInjected},
		{"after", func(n int) faultfs.Injector { return faultfs.Nth(n, faultfs.FailAfter(nil)) }, faultfs.ErrInjected},
		{"stop", faultfs.StopAfter, faultfs.ErrStopped},
	} {
		t.Run(row.name, func(t *testing.T) {
			fired := faultfs.ForEach(row.make, func(n int, inj faultfs.Injector) {
				err := publish(t.Context(), faultfs.New(memfs.New(memfs.Options{}).Driver(), inj))
				if want := n < counted.Ops(); want != (err != nil) || want && !errors.Is(err, row.err) {
					t.Errorf("%v: answer %v", inj, err)
				}
			})
			if fired != counted.Ops() {
				t.Errorf("%d operations fired, want %d", fired, counted.Ops())
			}
		})
	}
}

// TestStopHasNoEffectAfterwards compares with a run that simply ends there.
func TestStopHasNoEffectAfterwards(t *testing.T) {
	lengths := map[string]bool{}
	faultfs.ForEach(faultfs.StopAfter, func(n int, inj faultfs.Injector) {
		store := memfs.New(memfs.Options{})
		f := faultfs.New(store.Driver(), inj)
		err := publish(t.Context(), f)
		before := store.Files()
		if err != nil {
			for _, a := range acts {
				if err := a.act(t.Context(), f, stored(t)); !errors.Is(err, faultfs.ErrStopped) {
					t.Errorf("%v after the stop: %v", a.op, err)
				}
			}
		}
		if now := store.Files(); !reflect.DeepEqual(now, before) {
			t.Errorf("%v: files were %v, are %v", inj, before, now)
		}
		for _, file := range before {
			lengths[fmt.Sprint(file.Path, file.Length, file.Closed)] = true
		}
	})
	// Empty, 1 slice, 2 slices, all of it but not closed, closed, renamed.
	if len(lengths) != 6 {
		t.Errorf("seen were %v", lengths)
	}
}

func TestStopWhenStaysStopped(t *testing.T) {
	dead := false
	f := faultfs.New(stored(t).Driver(), faultfs.StopWhen(func() bool { return dead }))
	if _, err := f.Stat(t.Context(), "/d/a"); err != nil {
		t.Error(err)
	}
	for _, dead = range []bool{true, false} {
		if _, err := f.Stat(t.Context(), "/d/a"); !errors.Is(err, faultfs.ErrStopped) {
			t.Errorf("dead %v: answer %v", dead, err)
		}
	}
}

func TestInjectors(t *testing.T) {
	gone := faultfs.FailBefore(fs.Target, nil)
	call := func(n int, op faultfs.Op, path string) faultfs.Call { return faultfs.Call{N: n, Op: op, Path: path} }
	calls := []faultfs.Call{
		call(0, faultfs.Stat, "/base/x/a"), call(1, faultfs.Discard, "/base/x/a"), call(2, faultfs.Stat, "/base/y/b"),
		{N: 3, Op: faultfs.Publish, Path: "/base/x/.a", To: "/base/y/a"}, call(4, faultfs.Stat, "/basement/a"),
	}
	off := faultfs.NewSwitch(faultfs.Every(faultfs.Match{}, gone))
	on := faultfs.NewSwitch(faultfs.Every(faultfs.Match{}, gone))
	on.Set(true)
	for _, row := range []struct {
		inj  faultfs.Injector
		want []int // which calls don't pass
	}{
		{faultfs.None(), nil},
		{faultfs.Nth(2, gone), []int{2}},
		{faultfs.Nth(9, gone), nil},
		{faultfs.Every(faultfs.Match{}, gone), []int{0, 1, 2, 3, 4}},
		{faultfs.Every(faultfs.On(faultfs.Stat), gone), []int{0, 2, 4}},
		{faultfs.Every(faultfs.Match{Path: "a"}, gone), []int{0, 1, 3, 4}},
		{faultfs.Every(faultfs.Match{Path: ".*"}, gone), []int{3}},
		{faultfs.Every(faultfs.Match{Path: "/base/*/b"}, gone), []int{2}},
		{faultfs.Every(faultfs.Match{Below: "/base/y"}, gone), []int{2, 3}},
		{faultfs.Every(faultfs.Match{Below: "/base"}, gone), []int{0, 1, 2, 3}},
		{faultfs.Every(faultfs.Match{Ops: []faultfs.Op{faultfs.Stat}, Below: "/"}, gone), []int{0, 2, 4}},
		{faultfs.Times(2, faultfs.On(faultfs.Stat), gone), []int{0, 2}},
		{faultfs.Script(faultfs.On(faultfs.Stat), faultfs.Pass(), gone), []int{2}},
		{faultfs.StopAfter(3), []int{3, 4}},
		{faultfs.First(faultfs.Nth(1, gone), faultfs.Nth(3, gone)), []int{1, 3}},
		{faultfs.Random(1, 1, faultfs.Match{}, gone), []int{0, 1, 2, 3, 4}},
		{faultfs.Random(1, 0, faultfs.Match{}, gone), nil},
		{off, nil},
		{on, []int{0, 1, 2, 3, 4}},
	} {
		t.Run(row.inj.String(), func(t *testing.T) {
			var got []int
			for _, c := range calls {
				if a := row.inj.Decide(c); a != faultfs.Pass() {
					got = append(got, c.N)
				}
			}
			if !slices.Equal(got, row.want) || row.inj.Fired() != len(row.want) {
				t.Errorf("fired at %v, says %d times; want %v", got, row.inj.Fired(), row.want)
			}
		})
	}
}

func TestRandomIsDecidedByItsSeed(t *testing.T) {
	decisions := func(seed uint64) (d []faultfs.Action) {
		inj := faultfs.Random(seed, 0.5, faultfs.Match{}, faultfs.FailBefore(fs.Path, nil), faultfs.FailAfter(nil))
		for n := range 64 {
			d = append(d, inj.Decide(faultfs.Call{N: n}))
		}
		return d
	}
	if !slices.Equal(decisions(1), decisions(1)) {
		t.Error("one seed decides differently")
	}
	if slices.Equal(decisions(1), decisions(2)) {
		t.Error("two seeds decide alike")
	}
}

func TestOpsPrintThemselves(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range faultfs.AllOps() {
		seen[op.String()] = true
	}
	if len(seen) != len(faultfs.AllOps()) {
		t.Errorf("names are %v", seen)
	}
	c := faultfs.Call{N: 3, Op: faultfs.Publish, Path: "/a", To: "/b"}
	if c.String() != "#3 publish /a as /b" {
		t.Error(c)
	}
}
