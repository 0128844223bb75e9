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

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

// TestFence: no call begins after it, not even one that waited at a limit, and
// none that does begin is cut.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(lasting(time.Hour))
		c := fs.NewClient(s, fs.LimitOptions{Output: 1})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := put(t.Context(), c, "/under way"); err != nil {
				t.Errorf("what was under way answers %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() { fenced(t, "an upload that waited", put(t.Context(), c, "/waiting")) })
		synctest.Wait()
		c.Fence()
		for op, call := range calls(c) {
			fenced(t, op, call(t.Context()))
		}
		wg.Wait()
		if len(s.order) != 1 {
			t.Errorf("uploads that began were %v", s.order)
		}
		c.Fence() // once more
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Driver.Close(); err != nil {
			t.Error(err)
		}
	})
}

func fenced(t *testing.T, op string, err error) {
	t.Helper()
	if !errors.Is(err, fs.ErrFenced) || fs.ClassOf(err) != fs.Target {
		t.Errorf("%s answers %v", op, err)
	}
}

// calls are the client's, each on a path where there is nothing.
func calls(c *fs.Client) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"upload": func(ctx context.Context) error {
			_, err := c.Upload(ctx, strings.NewReader("x"), "/a", options)
			return err
		},
		"publish": func(ctx context.Context) error {
			return c.Publish(ctx, fs.Info{Path: "/a"}, "/b", fs.PublishOptions{})
		},
		"stat":    func(ctx context.Context) error { _, err := c.Stat(ctx, "/a"); return err },
		"locate":  func(ctx context.Context) error { _, err := c.Locate(ctx, "1", "/a"); return err },
		"open":    func(ctx context.Context) error { _, err := c.Open(ctx, "/a"); return err },
		"discard": func(ctx context.Context) error { return c.Discard(ctx, "/a") },
	}
}

// TestFenceIsOneClients: others of the same driver go on.
func TestFenceIsOneClients(t *testing.T) {
	r := registered(newOpener())
	a, errA := r.Acquire(t.Context(), target, fs.Options{})
	b, errB := r.Acquire(t.Context(), target, fs.Options{})
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	a.Fence()
	_, err := a.Stat(t.Context(), "/")
	fenced(t, "the fenced one", err)
	if _, err := b.Stat(t.Context(), "/"); err != nil {
		t.Errorf("the other one answers %v", err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

// TestCloseOfALoneClient closes its driver, once.
func TestCloseOfALoneClient(t *testing.T) {
	d := newOpener()
	driver, err := d.Open(t.Context(), "", fs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := fs.NewClient(driver, fs.LimitOptions{})
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, closed := d.counts(); closed != 1 {
		t.Errorf("closed %d times", closed)
	}
	for op, call := range calls(c) {
		if err := call(t.Context()); !errors.Is(err, os.ErrClosed) || fs.ClassOf(err) != fs.Target {
			t.Errorf("%s on a closed client answers %v", op, err)
		}
	}
}

// TestLookUp: which look-ups a driver is asked for, and what their errors mean.
func TestLookUp(t *testing.T) {
	store := memfs.New(memfs.Options{})
	d := store.Driver()
	info, err := d.Upload(t.Context(), strings.NewReader("x"), "/a", options)
	if err != nil {
		t.Fatal(err)
	}
	class := func(c fs.Class) error { return &fs.Error{Op: "search", Class: c, Err: errors.New("a reason")} }
	for _, row := range []struct {
		name     string
		id       fs.FileID
		names    []string
		search   error // nil if it finds the file
		fails    bool
		searches int
		searched bool
	}{
		{"under a name", info.ID, []string{"/a", "/b"}, nil, false, 0, false},
		{"no identity", "", []string{"/b"}, nil, false, 0, false},
		{"elsewhere", info.ID, []string{"/b"}, nil, false, 1, true},
		{"nowhere", info.ID, []string{"/b"}, class(fs.Missing), false, 1, true},
		{"can't be searched for", info.ID, []string{"/b"}, class(fs.Unsupported), false, 1, false},
		{"the target is away", info.ID, []string{"/b"}, class(fs.Target), true, 1, false},
		{"the answer is lost", info.ID, []string{"/b"}, class(fs.Unclear), true, 1, false},
		{"the search is refused", info.ID, []string{"/b"}, class(fs.Path), true, 1, false},
		{"a name can't be looked at", info.ID, []string{"/a/b/"}, nil, true, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			searches := 0
			place, err := fs.LookUp(row.id, row.names, func(name string) (fs.Info, error) { return d.Stat(t.Context(), name) },
				func(id fs.FileID) (fs.Info, error) {
					searches++
					if row.search != nil {
						return fs.Info{}, row.search
					}
					return info, nil
				})
			if (err != nil) != row.fails || searches != row.searches || place.Searched != row.searched {
				t.Errorf("it searches %d times and answers %+v, %v", searches, place, err)
			}
			if place.Elsewhere.Exists != (row.searched && row.search == nil) {
				t.Errorf("it answers %+v", place)
			}
		})
	}
}
