package fs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

var options = fs.UploadOptions{FileMode: 0o644, DirMode: 0o755}

// streams is a driver whose uploads last as long as the test wants, and which
// knows how many there are.
type streams struct {
	fs.Driver
	upload func(ctx context.Context, src fs.Source) error // nil returns at once

	mu        sync.Mutex
	open, max int
	order     []string // in which uploads began
}

func newStreams(upload func(context.Context, fs.Source) error) *streams {
	return &streams{Driver: memfs.New(memfs.Options{}).Driver(), upload: upload}
}

func (s *streams) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
	s.max = max(s.max, s.open)
}

func (s *streams) Upload(ctx context.Context, src fs.Source, hidden string, _ fs.UploadOptions) (fs.Info, error) {
	s.count(1)
	defer s.count(-1)
	s.mu.Lock()
	s.order = append(s.order, hidden)
	s.mu.Unlock()
	if s.upload != nil {
		return fs.Info{}, s.upload(ctx, src)
	}
	return fs.Info{}, nil
}

func put(ctx context.Context, c *fs.Client, name string) error {
	_, err := c.Upload(ctx, strings.NewReader("content"), name, options)
	return err
}

func lasting(d time.Duration) func(context.Context, fs.Source) error {
	return func(context.Context, fs.Source) error { time.Sleep(d); return nil }
}

func TestLimitsHold(t *testing.T) {
	for _, row := range []struct {
		name string
		o    fs.LimitOptions
		want int // at a time of 10 uploads
	}{
		{"none", fs.LimitOptions{}, 10},
		{"minus one is none", fs.LimitOptions{Total: -1, Output: -1, Timeout: -1, StreamTimeout: -1}, 10},
		{"total", fs.LimitOptions{Total: 3}, 3},
		{"output", fs.LimitOptions{Output: 2}, 2},
		{"both, the lower one", fs.LimitOptions{Total: 5, Output: 2}, 2},
		{"both, the other one lower", fs.LimitOptions{Total: 2, Output: 5}, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreams(lasting(time.Second))
				c := fs.NewClient(s, row.o)
				var wg sync.WaitGroup
				for i := range 10 {
					wg.Go(func() {
						if err := put(t.Context(), c, fmt.Sprint("/", i)); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if s.max != row.want {
					t.Errorf("%d streams were open at a time, want %d", s.max, row.want)
				}
				if s.open != 0 {
					t.Errorf("%d streams are still open", s.open)
				}
			})
		})
	}
}

func TestLimitServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(lasting(time.Second))
		c := fs.NewClient(s, fs.LimitOptions{Output: 1})
		var wg sync.WaitGroup
		var want []string
		for i := range 20 {
			name := fmt.Sprint("/", i)
			want = append(want, name)
			wg.Go(func() {
				if err := put(t.Context(), c, name); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // it is in the queue
		}
		wg.Wait()
		if got := fmt.Sprint(s.order); got != fmt.Sprint(want) {
			t.Errorf("order is %v", got)
		}
	})
}

// TestLimitConcernsUploadsOnly: who waits for a stream stands in the way of
// nothing else.
func TestLimitConcernsUploadsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fs.NewClient(newStreams(lasting(time.Hour)), fs.LimitOptions{Total: 1})
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				if err := put(t.Context(), c, fmt.Sprint("/", i)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		begin := time.Now()
		if _, err := c.Stat(t.Context(), "/"); err != nil {
			t.Error(err)
		}
		if _, err := c.Locate(t.Context(), "", "/a"); err != nil {
			t.Error(err)
		}
		if err := c.Discard(t.Context(), "/a"); err == nil || fs.ClassOf(err) != fs.Missing {
			t.Error(err)
		}
		if err := c.Publish(t.Context(), fs.Info{Path: "/a"}, "/b", fs.PublishOptions{}); err == nil || fs.ClassOf(err) != fs.Missing {
			t.Error(err)
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("they waited %v", waited)
		}
		wg.Wait()
	})
}

func TestLimitTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(lasting(time.Hour))
		c := fs.NewClient(s, fs.LimitOptions{Total: 1, Timeout: time.Minute})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := put(t.Context(), c, "/a"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		begin := time.Now()
		for _, err := range []error{put(t.Context(), c, "/b"), put(t.Context(), c, "/b")} {
			if !errors.Is(err, fs.ErrNoStream) || fs.ClassOf(err) != fs.Target {
				t.Errorf("answer %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "1m0s at the limit of total 1, output 0 streams; raise") {
				t.Errorf("it doesn't say which limit: %v", err)
			}
		}
		if waited := time.Since(begin); waited != 2*time.Minute {
			t.Errorf("two calls waited %v", waited)
		}
		wg.Wait()
		if err := put(t.Context(), c, "/c"); err != nil {
			t.Errorf("after the place was free: %v", err)
		}
		if len(s.order) != 2 {
			t.Errorf("uploads were %v", s.order)
		}
	})
}

func TestLimitHonoursTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(lasting(time.Hour))
		c := fs.NewClient(s, fs.LimitOptions{Output: 1})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := put(t.Context(), c, "/a"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := put(ctx, c, "/b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("answer %v", err)
		}
		wg.Wait()
		// The one that gave up took no place with it.
		if err := put(t.Context(), c, "/c"); err != nil {
			t.Error(err)
		}
	})
}

// TestLimitLosesNoPlace has calls give up at the very moment at which they are
// let in.
func TestLimitLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(lasting(time.Second))
		c := fs.NewClient(s, fs.LimitOptions{Output: 2})
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*time.Second)
				defer cancel()
				if err := put(ctx, c, fmt.Sprint("/", i)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s.max = 0
		for i := range 4 {
			wg.Go(func() {
				if err := put(t.Context(), c, fmt.Sprint("/again", i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if s.max != 2 {
			t.Errorf("%d streams at a time, want 2", s.max)
		}
	})
}

func TestStreamTimeout(t *testing.T) {
	slices := func(n int, pause time.Duration) func(context.Context, fs.Source) error {
		return func(ctx context.Context, src fs.Source) error {
			for i := range n {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					return &fs.Error{Op: "upload", Path: "/a", Class: fs.Unclear, Err: context.Cause(ctx)}
				}
				if _, err := src.ReadAt(make([]byte, 1), int64(i)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, row := range []struct {
		name    string
		upload  func(context.Context, fs.Source) error
		stalled bool
		takes   time.Duration
	}{
		{"slow but steady", slices(7, 9*time.Second), false, 63 * time.Second},
		{"stalls", slices(7, 11*time.Second), true, 10 * time.Second},
		{"fails by itself", func(context.Context, fs.Source) error { return errors.New("by itself") }, false, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fs.NewClient(newStreams(row.upload), fs.LimitOptions{Output: 1, StreamTimeout: 10 * time.Second})
				begin := time.Now()
				err := put(t.Context(), c, "/a")
				if errors.Is(err, fs.ErrStalled) != row.stalled || row.stalled && fs.ClassOf(err) != fs.Unclear {
					t.Errorf("answer %v", err)
				}
				if took := time.Since(begin); took != row.takes {
					t.Errorf("it took %v, want %v", took, row.takes)
				}
			})
		})
	}
}

func TestCloseSendsWaitersAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := fs.NewClient(newStreams(lasting(time.Hour)), fs.LimitOptions{Output: 1})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := put(t.Context(), c, "/a"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			err := put(t.Context(), c, "/b")
			if !errors.Is(err, os.ErrClosed) || fs.ClassOf(err) != fs.Target {
				t.Errorf("the waiter gets %v", err)
			}
			if waited := time.Since(begin); waited != 0 {
				t.Errorf("the waiter gets it after %v", waited)
			}
		})
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if now := time.Since(begin); now != 0 {
			t.Errorf("Close waited %v", now)
		}
		if err := put(t.Context(), c, "/c"); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a later call gets %v", err)
		}
		wg.Wait()
	})
}

// TestKernelCopyOnlyUnwatched: the kernel's copy shows no progress, so with a
// StreamTimeout the driver mustn't see the file.
func TestKernelCopyOnlyUnwatched(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Hour} {
		seen := false
		s := newStreams(func(_ context.Context, src fs.Source) error {
			_, seen = src.(interface{ OSFile() *os.File })
			return nil
		})
		c := fs.NewClient(s, fs.LimitOptions{Output: 1, StreamTimeout: timeout})
		if _, err := c.Upload(t.Context(), osSource{strings.NewReader("x")}, "/a", options); err != nil {
			t.Fatal(err)
		}
		if seen != (timeout == 0) {
			t.Errorf("timeout %v: the driver sees the file: %v", timeout, seen)
		}
	}
}

type osSource struct{ *strings.Reader }

func (osSource) OSFile() *os.File { return nil }
