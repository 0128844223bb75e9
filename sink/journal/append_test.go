package journal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

// TestALateChunk: a chunk whose disk hangs is answered when its time is over.
// What becomes of it is one of two things, whatever happens to the process: it
// is accepted, and known when it comes again, or nothing is kept of it.
func TestALateChunk(t *testing.T) {
	for _, taken := range []bool{false, true} {
		for _, named := range []bool{false, true} {
			for _, fails := range []bool{false, true} {
				for _, closes := range []bool{false, true} {
					name := fmt.Sprintf("the writer has it: %v, it has an origin: %v, the sync fails: %v, the journal closes: %v", taken, named, fails, closes)
					t.Run(name, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { lateChunk(t, taken, named, fails, closes) })
					})
				}
			}
		}
	}
}

func lateChunk(t *testing.T, taken, named, fails, closes bool) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	synctest.Wait()
	release := make(chan struct{})
	hung := false
	d.SetHook(func(op crashdisk.Op) faults.Action {
		if op.Kind != crashdisk.Sync || hung {
			return faults.Pass()
		}
		hung = true
		<-release
		if fails {
			return faults.Before(errors.New("input/output error"))
		}
		return faults.Pass()
	})
	if !taken {
		go func() { _ = j.Append(Decoding{}) }() // the writer is busy with it
		synctest.Wait()
	}
	o := Origin{}
	if named {
		o = file("n", "data")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var calls []Accepted
	var lateErr error
	data := []byte("data")
	began := time.Now()
	_, err := j.AppendChunk(ctx, "tag", arrival, o, data, func(a Accepted, err error) { calls, lateErr = append(calls, a), err })
	if !errors.Is(err, ErrLate) || time.Since(began) != time.Second {
		t.Fatalf("after %v: %v", time.Since(began), err)
	}
	if len(calls) > 0 == taken {
		t.Errorf("called %d times while the disk hangs", len(calls))
	}
	if !taken {
		clear(data) // Fluent Bit has it back
	}
	closed := make(chan error, 1)
	if closes {
		go func() { closed <- j.Close() }()
		synctest.Wait()
	}
	close(release)
	synctest.Wait()
	if len(calls) != 1 {
		t.Fatalf("called %d times", len(calls))
	}
	accepted := taken && named && !fails
	if (lateErr == nil) != accepted {
		t.Errorf("in the end: %v", lateErr)
	}
	d.SetHook(nil)
	if !closes {
		if n := len(j.Chunks()); n == 1 != accepted {
			t.Errorf("%d chunks are live", n)
		}
		again, err := j.AppendChunk(t.Context(), "tag", arrival, o, []byte("data"), nil)
		if err != nil || again.Known != accepted {
			t.Errorf("when it comes again: %+v, %v", again, err)
		}
		closed <- j.Close()
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	want := 1
	if closes && !accepted {
		want = 0
	}
	j, _ = open(t, options(d))
	chunks := j.Chunks()
	if len(chunks) != want {
		t.Errorf("after a start %d chunks are live, want %d", len(chunks), want)
	}
	for _, c := range chunks {
		if p, err := j.Read(c.Seq, nil); err != nil || string(p.Data) != "data" {
			t.Errorf("read back: %q, %v", p.Data, err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// TestALateDouble: a second delivery that waits for the first one's append gives
// up by itself.
func TestALateDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		synctest.Wait()
		release := make(chan struct{})
		d.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Sync {
				<-release
			}
			return faults.Pass()
		})
		o := file("n", "data")
		go func() {
			if _, err := j.AppendChunk(t.Context(), "tag", arrival, o, []byte("data"), nil); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := 0
		if _, err := j.AppendChunk(ctx, "tag", arrival, o, []byte("data"), func(Accepted, error) { calls++ }); !errors.Is(err, ErrLate) || calls != 1 {
			t.Errorf("%v, called %d times", err, calls)
		}
		close(release)
		synctest.Wait()
		closed(t, j)
	})
}
