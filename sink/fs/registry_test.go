package fs_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/fstest"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opener opens drivers of a store and counts them.
type opener struct {
	store *memfs.Store
	open  func(ctx context.Context) error // before opening, may be nil

	mu             sync.Mutex
	opened, closed int
	authorities    []string
}

func (d *opener) Open(ctx context.Context, authority string, _ fs.Options) (fs.Driver, error) {
	d.mu.Lock()
	d.opened++
	d.authorities = append(d.authorities, authority)
	d.mu.Unlock()
	if d.open != nil {
		if err := d.open(ctx); err != nil {
			return nil, err
		}
	}
	return counted{d.store.Driver(), d}, nil
}

func (d *opener) counts() (opened, closed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened, d.closed
}

type counted struct {
	fs.Driver
	d *opener
}

func (c counted) Close() error {
	c.d.mu.Lock()
	c.d.closed++
	c.d.mu.Unlock()
	return c.Driver.Close()
}

func newOpener() *opener { return &opener{store: memfs.New(memfs.Options{})} }

func registered(d fs.Opener) *fs.Registry {
	r := fs.NewRegistry()
	r.Register("mem", d)
	return r
}

var target = fs.Location{Scheme: "mem", Authority: "ns", Path: "/logs"}

func TestRegistrySharesWhatIsEqual(t *testing.T) {
	base := fs.Options{User: "bob", Settings: map[string]string{"a": "1", "b": "2"}, Limits: fs.LimitOptions{Output: 3}}
	for _, row := range []struct {
		name   string
		target fs.Location
		o      fs.Options
		shared bool
	}{
		{"everything equal", target, fs.Options{User: "bob", Settings: map[string]string{"b": "2", "a": "1"}, Limits: fs.LimitOptions{Output: 3}}, true},
		{"another path", fs.Location{Scheme: "mem", Authority: "ns", Path: "/other"}, base, true},
		{"another authority", fs.Location{Scheme: "mem", Authority: "ns2", Path: "/logs"}, base, false},
		{"another user", target, fs.Options{User: "eve", Settings: base.Settings, Limits: base.Limits}, false},
		{"another setting", target, fs.Options{User: "bob", Settings: map[string]string{"a": "1", "b": "3"}, Limits: base.Limits}, false},
		{"settings that join to the same text", target, fs.Options{User: "bob", Settings: map[string]string{"a": "1\"\n\"b\"=\"2"}, Limits: base.Limits}, false},
		{"other limits", target, fs.Options{User: "bob", Settings: base.Settings, Limits: fs.LimitOptions{Output: 4}}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newOpener()
			r := registered(d)
			a, err := r.Acquire(t.Context(), target, base)
			if err != nil {
				t.Fatal(err)
			}
			b, err := r.Acquire(t.Context(), row.target, row.o)
			if err != nil {
				t.Fatal(err)
			}
			want := 2
			if row.shared {
				want = 1
			}
			if opened, _ := d.counts(); opened != want {
				t.Errorf("opened %d, want %d", opened, want)
			}
			if err := errors.Join(a.Close(), b.Close()); err != nil {
				t.Error(err)
			}
			if _, closed := d.counts(); closed != want {
				t.Errorf("closed %d, want %d", closed, want)
			}
		})
	}
}

func TestRegistryClosesWithTheLast(t *testing.T) {
	d := newOpener()
	r := registered(d)
	a, errA := r.Acquire(t.Context(), target, fs.Options{})
	b, errB := r.Acquire(t.Context(), target, fs.Options{})
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second Close of one holder isn't another's
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, closed := d.counts(); closed != 0 {
		t.Error("closed while it is held")
	}
	if _, err := a.Stat(t.Context(), "/"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed holder's call answers %v", err)
	}
	if _, err := b.Stat(t.Context(), "/"); err != nil {
		t.Errorf("the other holder's call answers %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, closed := d.counts(); closed != 1 {
		t.Errorf("closed %d times", closed)
	}
	c, err := r.Acquire(t.Context(), target, fs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if opened, _ := d.counts(); opened != 2 {
		t.Errorf("opened %d times, want a new one", opened)
	}
}

func TestRegistryOpensOnceForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newOpener()
		d.open = func(context.Context) error { time.Sleep(time.Minute); return nil }
		r := registered(d)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				f, err := r.Acquire(t.Context(), target, fs.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				time.Sleep(time.Second)
			})
		}
		wg.Wait()
		if opened, closed := d.counts(); opened != 1 || closed != 1 {
			t.Errorf("opened %d, closed %d", opened, closed)
		}
	})
}

func TestRegistryWaiterOutlivesAFailedOpener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newOpener()
		first := true
		d.open = func(ctx context.Context) error {
			if !first {
				return nil
			}
			first = false
			<-ctx.Done()
			return ctx.Err()
		}
		r := registered(d)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.Acquire(ctx, target, fs.Options{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the opener gets %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			f, err := r.Acquire(t.Context(), target, fs.Options{})
			if err != nil {
				t.Errorf("the waiter gets %v", err)
				return
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if opened, closed := d.counts(); opened != 2 || closed != 1 {
			t.Errorf("opened %d, closed %d", opened, closed)
		}
	})
}

func TestRegistryWaiterGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newOpener()
		d.open = func(context.Context) error { time.Sleep(time.Hour); return nil }
		r := registered(d)
		var wg sync.WaitGroup
		wg.Go(func() {
			f, err := r.Acquire(t.Context(), target, fs.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := r.Acquire(ctx, target, fs.Options{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the waiter gets %v", err)
		}
		if waited := time.Since(begin); waited != time.Second {
			t.Errorf("it waited %v", waited)
		}
		wg.Wait()
		if _, closed := d.counts(); closed != 1 {
			t.Errorf("closed %d times: the waiter's reference was kept", closed)
		}
	})
}

func TestRegistryOpenErrorsKeepTheirClass(t *testing.T) {
	d := newOpener()
	d.open = func(context.Context) error {
		return &fs.Error{Op: "open", Path: "ns", Class: fs.Target, Err: errors.New("refused")}
	}
	r := registered(d)
	for range 2 { // a failed opening isn't remembered
		if _, err := r.Acquire(t.Context(), target, fs.Options{}); err == nil || fs.ClassOf(err) != fs.Target {
			t.Errorf("answer %v", err)
		}
	}
	if opened, _ := d.counts(); opened != 2 {
		t.Errorf("tried %d times", opened)
	}
}

func TestRegistryOpenThatPanicsBlocksNobody(t *testing.T) {
	d := newOpener()
	d.open = func(context.Context) error { panic("driver") }
	r := registered(d)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		r.Acquire(t.Context(), target, fs.Options{})
	}()
	d.open = nil
	f, err := r.Acquire(t.Context(), target, fs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestRegistryUnknownScheme(t *testing.T) {
	r := registered(newOpener())
	_, err := r.Acquire(t.Context(), fs.Location{Scheme: "s3", Path: "/"}, fs.Options{})
	if err == nil || fs.ClassOf(err) != fs.Unsupported || !strings.Contains(err.Error(), "mem") {
		t.Errorf("answer %v, want Unsupported and what there is", err)
	}
}

func TestRegisterTwicePanics(t *testing.T) {
	r := registered(newOpener())
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	r.Register("MEM", newOpener())
}

// TestRegistryConformance runs the suite on what Acquire returns, limits and
// all.
func TestRegistryConformance(t *testing.T) {
	d := newOpener()
	r := registered(d)
	fstest.Run(t, fstest.Harness{
		Open: func(t testing.TB) fs.Driver {
			o := fs.Options{Limits: fs.LimitOptions{Total: 3, Output: 2, Timeout: time.Minute, StreamTimeout: time.Minute}}
			f, err := r.Acquire(t.Context(), target, o)
			if err != nil {
				t.Fatal(err)
			}
			return f
		},
		Reader: func(testing.TB) fs.Reader { return d.store.Driver() },
		Dir: func(t testing.TB) string {
			dir := "/" + t.Name()
			if err := d.store.Mkdir(dir); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		Search: true,
		Tick:   2 * time.Millisecond,
	})
	if opened, closed := d.counts(); opened != closed {
		t.Errorf("opened %d, closed %d", opened, closed)
	}
}
