package fs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

var options = fs.PutOptions{FileMode: 0o644, DirMode: 0o755}

// streams is a file system whose streams last as long as the test wants, and
// which knows how many there are.
type streams struct {
	fs.FileSystem
	put func(ctx context.Context, src fs.Source) error // nil returns at once

	mu                      sync.Mutex
	inputs, outputs         int
	maxIn, maxOut, maxTotal int
	order                   []string // of Puts
}

func newStreams(t *testing.T, put func(context.Context, fs.Source) error) *streams {
	t.Helper()
	store := memfs.New(memfs.Options{})
	if err := store.Write("/in", []byte(strings.Repeat("x", 100))); err != nil {
		t.Fatal(err)
	}
	return &streams{FileSystem: store.Client(), put: put}
}

func (s *streams) count(in, out int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs, s.outputs = s.inputs+in, s.outputs+out
	s.maxIn, s.maxOut = max(s.maxIn, s.inputs), max(s.maxOut, s.outputs)
	s.maxTotal = max(s.maxTotal, s.inputs+s.outputs)
}

func (s *streams) Put(ctx context.Context, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
	s.count(0, 1)
	defer s.count(0, -1)
	s.mu.Lock()
	s.order = append(s.order, temp)
	s.mu.Unlock()
	if s.put != nil {
		return fs.Info{}, s.put(ctx, src)
	}
	return fs.Info{}, nil
}

func (s *streams) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := s.FileSystem.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	s.count(1, 0)
	return &countedReader{ReadCloser: r, s: s}, nil
}

type countedReader struct {
	io.ReadCloser
	s    *streams
	read func([]byte) (int, error) // may be nil
}

func (r *countedReader) Read(p []byte) (int, error) {
	if r.read != nil {
		return r.read(p)
	}
	return r.ReadCloser.Read(p)
}

func (r *countedReader) Close() error {
	r.s.count(-1, 0)
	return r.ReadCloser.Close()
}

func put(ctx context.Context, f fs.FileSystem, name string) error {
	_, err := f.Put(ctx, strings.NewReader("content"), name, options)
	return err
}

func lasting(d time.Duration) func(context.Context, fs.Source) error {
	return func(context.Context, fs.Source) error { time.Sleep(d); return nil }
}

func TestLimitsHold(t *testing.T) {
	for _, row := range []struct {
		name           string
		o              fs.LimitOptions
		in, out, total int // the most that may be open of 10 + 10
	}{
		{"none", fs.LimitOptions{}, 10, 10, 20},
		{"minus one is none", fs.LimitOptions{Total: -1, Input: -1, Output: -1, Timeout: -1, StreamTimeout: -1}, 10, 10, 20},
		{"total", fs.LimitOptions{Total: 3}, 3, 3, 3},
		{"input", fs.LimitOptions{Input: 2}, 2, 10, 12},
		{"output", fs.LimitOptions{Output: 2}, 10, 2, 12},
		{"all", fs.LimitOptions{Total: 5, Input: 4, Output: 2}, 4, 2, 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStreams(t, lasting(time.Second))
				f := fs.Limit(s, row.o)
				var wg sync.WaitGroup
				for i := range 10 {
					wg.Go(func() {
						if err := put(t.Context(), f, fmt.Sprint("/", i)); err != nil {
							t.Error(err)
						}
					})
					wg.Go(func() {
						r, err := f.Open(t.Context(), "/in")
						if err != nil {
							t.Error(err)
							return
						}
						time.Sleep(time.Second)
						if err := r.Close(); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if s.maxIn > row.in || s.maxOut > row.out || s.maxTotal != row.total {
					t.Errorf("open were %d in, %d out, %d in all; want %d, %d, %d", s.maxIn, s.maxOut, s.maxTotal, row.in, row.out, row.total)
				}
				if s.inputs != 0 || s.outputs != 0 {
					t.Errorf("still open are %d in, %d out", s.inputs, s.outputs)
				}
			})
		})
	}
}

func TestLimitServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(t, lasting(time.Second))
		f := fs.Limit(s, fs.LimitOptions{Output: 1})
		var wg sync.WaitGroup
		var want []string
		for i := range 20 {
			name := fmt.Sprint("/", i)
			want = append(want, name)
			wg.Go(func() {
				if err := put(t.Context(), f, name); err != nil {
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

// TestLimitLetsOthersPast: who waits for an output stream doesn't stand in the
// way of those who want an input stream.
func TestLimitLetsOthersPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(t, lasting(time.Hour))
		f := fs.Limit(s, fs.LimitOptions{Total: 3, Output: 1})
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				if err := put(t.Context(), f, fmt.Sprint("/", i)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		begin := time.Now()
		r, err := f.Open(t.Context(), "/in")
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("Open waited %v", waited)
		}
		r.Close()
		wg.Wait()
	})
}

func TestLimitTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(t, lasting(time.Hour))
		f := fs.Limit(s, fs.LimitOptions{Total: 1, Timeout: time.Minute})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := put(t.Context(), f, "/a"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		begin := time.Now()
		for _, err := range []error{put(t.Context(), f, "/b"), opened(f.Open(t.Context(), "/in"))} {
			if !errors.Is(err, fs.ErrNoStream) || fs.ClassOf(err) != fs.Target {
				t.Errorf("answer %v", err)
			}
		}
		if waited := time.Since(begin); waited != 2*time.Minute {
			t.Errorf("two calls waited %v", waited)
		}
		wg.Wait()
		if err := put(t.Context(), f, "/c"); err != nil {
			t.Errorf("after the place was free: %v", err)
		}
		if len(s.order) != 2 {
			t.Errorf("Puts were %v", s.order)
		}
	})
}

func opened(r io.ReadCloser, err error) error {
	if err == nil {
		r.Close()
	}
	return err
}

func TestLimitHonoursTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(t, lasting(time.Hour))
		f := fs.Limit(s, fs.LimitOptions{Output: 1})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := put(t.Context(), f, "/a"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := put(ctx, f, "/b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("answer %v", err)
		}
		wg.Wait()
		// The one that gave up took no place with it.
		if err := put(t.Context(), f, "/c"); err != nil {
			t.Error(err)
		}
	})
}

// TestLimitLosesNoPlace has calls give up at the very moment at which they are
// let in.
func TestLimitLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(t, lasting(time.Second))
		f := fs.Limit(s, fs.LimitOptions{Output: 2})
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*time.Second)
				defer cancel()
				if err := put(ctx, f, fmt.Sprint("/", i)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s.maxOut = 0
		for i := range 4 {
			wg.Go(func() {
				if err := put(t.Context(), f, fmt.Sprint("/again", i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if s.maxOut != 2 {
			t.Errorf("%d streams at a time, want 2", s.maxOut)
		}
	})
}

func TestStreamTimeoutOfAPut(t *testing.T) {
	slices := func(n int, pause time.Duration) func(context.Context, fs.Source) error {
		return func(ctx context.Context, src fs.Source) error {
			for i := range n {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					return &fs.Error{Op: "put", Path: "/a", Class: fs.Unclear, Err: context.Cause(ctx)}
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
		put     func(context.Context, fs.Source) error
		stalled bool
		takes   time.Duration
	}{
		{"slow but steady", slices(7, 9*time.Second), false, 63 * time.Second},
		{"stalls", slices(7, 11*time.Second), true, 10 * time.Second},
		{"fails by itself", func(context.Context, fs.Source) error { return errors.New("by itself") }, false, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fs.Limit(newStreams(t, row.put), fs.LimitOptions{Output: 1, StreamTimeout: 10 * time.Second})
				begin := time.Now()
				err := put(t.Context(), f, "/a")
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

func TestStreamTimeoutOfAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(t, nil)
		f := fs.Limit(s, fs.LimitOptions{Input: 1, StreamTimeout: 10 * time.Second})
		r, err := f.Open(t.Context(), "/in")
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			time.Sleep(9 * time.Second)
			if _, err := io.ReadFull(r, make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		again, err := f.Open(t.Context(), "/in") // waits until the first is aborted
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if waited := time.Since(begin); waited != 10*time.Second {
			t.Errorf("waited %v", waited)
		}
		if _, err := r.Read(make([]byte, 3)); !errors.Is(err, fs.ErrStalled) {
			t.Errorf("Read answers %v", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if s.inputs != 1 {
			t.Errorf("%d streams are open", s.inputs)
		}
	})
}

// hanging is a file system whose reads hang until ctx ends.
type hanging struct{ *streams }

func (h hanging) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := h.streams.Open(ctx, path)
	if err == nil {
		r.(*countedReader).read = func([]byte) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}
	}
	return r, err
}

func TestStreamTimeoutOfAReadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreams(t, nil)
		f := fs.Limit(hanging{s}, fs.LimitOptions{Input: 1, StreamTimeout: 10 * time.Second})
		r, err := f.Open(t.Context(), "/in")
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := r.Read(make([]byte, 3)); !errors.Is(err, fs.ErrStalled) {
			t.Errorf("Read answers %v", err)
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if s.inputs != 0 {
			t.Error("the stream is still open")
		}
		r.Close()
		again, err := f.Open(t.Context(), "/in")
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	})
}

func TestClosedReader(t *testing.T) {
	s := newStreams(t, nil)
	f := fs.Limit(s, fs.LimitOptions{Input: 1})
	r, err := f.Open(t.Context(), "/in")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Read answers %v", err)
	}
	if s.inputs != 0 {
		t.Errorf("%d streams are open", s.inputs)
	}
}

func TestAFailedOpenTakesNoPlace(t *testing.T) {
	f := fs.Limit(newStreams(t, nil), fs.LimitOptions{Input: 1, Timeout: time.Nanosecond})
	for range 3 {
		if _, err := f.Open(t.Context(), "/missing"); err == nil || fs.ClassOf(err) != fs.Missing {
			t.Errorf("Open answers %v", err)
		}
	}
	if err := opened(f.Open(t.Context(), "/in")); err != nil {
		t.Error(err)
	}
}

func TestCloseSendsWaitersAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fs.Limit(newStreams(t, lasting(time.Hour)), fs.LimitOptions{Output: 1})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := put(t.Context(), f, "/a"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if err := put(t.Context(), f, "/b"); !errors.Is(err, os.ErrClosed) {
				t.Errorf("the waiter gets %v", err)
			}
		})
		synctest.Wait()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := put(t.Context(), f, "/c"); !errors.Is(err, os.ErrClosed) {
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
		s := newStreams(t, func(_ context.Context, src fs.Source) error {
			_, seen = src.(interface{ OSFile() *os.File })
			return nil
		})
		f := fs.Limit(s, fs.LimitOptions{Output: 1, StreamTimeout: timeout})
		if _, err := f.Put(t.Context(), osSource{strings.NewReader("x")}, "/a", options); err != nil {
			t.Fatal(err)
		}
		if seen != (timeout == 0) {
			t.Errorf("timeout %v: the driver sees the file: %v", timeout, seen)
		}
	}
}

type osSource struct{ *strings.Reader }

func (osSource) OSFile() *os.File { return nil }
