package instance

import (
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
)

// fake is an open instance whose disk hangs or not when it is closed.
type fake struct {
	hangs    bool
	released chan struct{}
	closed   atomic.Int64
}

func newFake(hangs bool) *fake {
	f := &fake{hangs: hangs, released: make(chan struct{})}
	if !hangs {
		close(f.released)
	}
	return f
}

func (f *fake) Flush(string, []byte, chunkfile.File, sink.FlushOptions) sink.Answer { return sink.OK }
func (f *fake) Released() <-chan struct{}                                           { return f.released }

func (f *fake) Close() error {
	f.closed.Add(1)
	if f.hangs {
		return sink.ErrDiskHangs
	}
	return nil
}

func flushed(o *Output) sink.Answer {
	return o.Flush("tag", nil, chunkfile.File{}, sink.FlushOptions{})
}

var quietLog = slog.New(slog.NewTextHandler(io.Discard, nil))

// TestASuccessorOfAHungInstance starts at once, answers RETRY while the lock is
// the predecessor's, and goes on by itself when it isn't.
func TestASuccessorOfAHungInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left Left
		hung, next := newFake(true), newFake(false)
		first, err := start("/state", quietLog, &left, func() (running, error) { return hung, nil })
		if err != nil || flushed(first) != sink.OK {
			t.Fatal("the first instance doesn't run", err)
		}
		if err := first.Close(); !errors.Is(err, sink.ErrDiskHangs) {
			t.Errorf("its end: %v", err)
		}
		began := time.Now()
		second, err := start("/state", quietLog, &left, func() (running, error) {
			select {
			case <-hung.released:
				return next, nil
			default:
				return nil, errors.New("locked")
			}
		})
		if err != nil || time.Since(began) > 0 {
			t.Fatalf("the successor starts after %v: %v", time.Since(began), err)
		}
		other, err := start("/other", quietLog, &left, func() (running, error) { return newFake(false), nil })
		if err != nil || flushed(other) != sink.OK {
			t.Errorf("another directory's instance: %v", err)
		}
		time.Sleep(time.Hour)
		if flushed(second) != sink.Retry {
			t.Error("a flush is accepted without the lock")
		}
		close(hung.released)
		synctest.Wait()
		if flushed(second) != sink.OK {
			t.Error("the successor doesn't go on by itself")
		}
		if err := errors.Join(second.Close(), other.Close()); err != nil || next.closed.Load() != 1 {
			t.Errorf("closed %d times: %v", next.closed.Load(), err)
		}
		if left.of("/state") != nil {
			t.Error("the directory is still waited for")
		}
	})
}

// TestStartOnADiskThatHangs returns soon, and so does Close, whichever comes
// first; what is opened after Close is closed at once.
func TestStartOnADiskThatHangs(t *testing.T) {
	for _, closes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var left Left
			release := make(chan struct{})
			i := newFake(false)
			began := time.Now()
			o, err := start("/state", quietLog, &left, func() (running, error) {
				<-release
				return i, nil
			})
			if err != nil || time.Since(began) > openWait {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
			if flushed(o) != sink.Retry {
				t.Error("a flush is accepted before the state is read")
			}
			if closes {
				began = time.Now()
				if err := o.Close(); !errors.Is(err, sink.ErrDiskHangs) || time.Since(began) > leaveWait {
					t.Errorf("close after %v: %v", time.Since(began), err)
				}
				if left.of("/state") == nil {
					t.Error("a successor isn't told to wait")
				}
			}
			close(release)
			synctest.Wait()
			if closes {
				if i.closed.Load() != 1 || flushed(o) != sink.Retry || left.of("/state") != nil {
					t.Errorf("closed %d times", i.closed.Load())
				}
				return
			}
			if flushed(o) != sink.OK {
				t.Error("it doesn't go on by itself")
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAnErrorAtTheStart is the agent's to hear while it waits; a later one is
// tried again.
func TestAnErrorAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left Left
		wrong := errors.New("wrong")
		if _, err := start("/state", quietLog, &left, func() (running, error) { return nil, wrong }); !errors.Is(err, wrong) {
			t.Errorf("in time: %v", err)
		}
		tries := 0
		o, err := start("/state", quietLog, &left, func() (running, error) {
			time.Sleep(openWait + time.Second)
			if tries++; tries < 3 {
				return nil, wrong
			}
			return newFake(false), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if flushed(o) != sink.OK {
			t.Errorf("not open after %d tries", tries)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}
