package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// slowSyncs makes every sync of a segment take a second and counts them.
func slowSyncs(d *crashdisk.Disk) (count func() int) {
	var mu sync.Mutex
	n := 0
	d.SetHook(func(op crashdisk.Op) faults.Action {
		if op.Kind == crashdisk.Sync {
			time.Sleep(time.Second)
			mu.Lock()
			n++
			mu.Unlock()
		}
		return faults.Pass()
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// TestAppendsShareSyncs: while the disk is busy with one sync, what comes
// gathers for the next.
func TestAppendsShareSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		o := options(d)
		o.SegmentSize = 1 << 20
		j, _ := open(t, o)
		synctest.Wait()
		syncs := slowSyncs(d)
		const appends = 100
		start := time.Now()
		var mu sync.Mutex
		var seqs []uint64
		var all sync.WaitGroup
		for i := range appends {
			all.Go(func() {
				a, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, []byte(fmt.Sprint(i)), nil)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				seqs = append(seqs, a.Seq)
				mu.Unlock()
			})
		}
		all.Wait()
		if n := syncs(); n > 2 {
			t.Errorf("%d appends took %d syncs", appends, n)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("they took %v", took)
		}
		slices.Sort(seqs)
		if got := slices.Compact(seqs); len(got) != appends {
			t.Errorf("%d sequences", len(got))
		}
		d.SetHook(nil)
		closed(t, j)
	})
}

// TestFramesLieInTheOrderOfTheirSequence also when some are refused between.
func TestFramesLieInTheOrderOfTheirSequence(t *testing.T) {
	d := crashdisk.New()
	o := options(d)
	o.SegmentSize = 64 << 10
	j, _ := open(t, o)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if _, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, []byte(strings.Repeat("x", 10*i)), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var last log.Location
	for _, c := range j.Chunks() {
		loc := j.st.chunks[c.Seq].loc
		if loc.Segment < last.Segment || loc.Segment == last.Segment && loc.Offset < last.Offset {
			t.Fatalf("chunk %d lies at %v, the one before at %v", c.Seq, loc, last)
		}
		last = loc
	}
}

// TestABatchIsBounded: an append waits for the batch under way and its own, not
// for all that came before it.
func TestABatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		o := options(d)
		o.SegmentSize = 32 << 20
		j, _ := open(t, o)
		synctest.Wait()
		largest := int64(0)
		d.SetHook(func(op crashdisk.Op) faults.Action {
			switch op.Kind {
			case crashdisk.Write:
				largest = max(largest, op.Length)
			case crashdisk.Sync:
				time.Sleep(time.Second)
			}
			return faults.Pass()
		})
		var all sync.WaitGroup
		body := make([]byte, 3<<20)
		for range 8 {
			all.Go(func() {
				if _, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, body, nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if largest > maxBatch {
			t.Errorf("a batch of %d bytes", largest)
		}
		if largest < 6<<20 {
			t.Errorf("no batch is larger than %d bytes", largest)
		}
		d.SetHook(nil)
		closed(t, j)
	})
}

// TestCloseDuringAppends: each append succeeds or answers ErrClosed, and what
// succeeded is there.
func TestCloseDuringAppends(t *testing.T) {
	for round := range 30 {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		var all sync.WaitGroup
		var mu sync.Mutex
		ok := map[uint64]bool{}
		begin := make(chan struct{})
		for i := range 32 {
			all.Go(func() {
				<-begin
				for {
					a, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, []byte(strings.Repeat("x", 50*i)), nil)
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					ok[a.Seq] = true
					mu.Unlock()
				}
			})
		}
		close(begin)
		for range 3 { // all of them wait for the end
			all.Go(func() {
				for range round * 20 {
					j.NextPart()
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
				lock, err := d.Lock("the next")
				if err == nil {
					_ = lock.Close()
				} else if locked := (*disk.LockedError)(nil); errors.As(err, &locked) && locked.Owner != "the next" {
					t.Errorf("closed, and the directory is still locked: %v", err)
				}
			})
		}
		all.Wait()
		if d.Handles() != 0 {
			t.Errorf("%d files are open", d.Handles())
		}
		next, _ := open(t, options(d.Crash(crashdisk.None, 0)))
		if n := len(next.Chunks()); n != len(ok) {
			t.Fatalf("%d chunks are there, %d were accepted", n, len(ok))
		}
		closed(t, next)
	}
}

func TestUseAfterClose(t *testing.T) {
	j, _ := open(t, options(crashdisk.New()))
	seq := accept(t, j, file("n", "x"), "x")
	closed(t, j)
	_, appendErr := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, nil, nil)
	_, knownErr := j.AppendChunk(context.Background(), "tag", arrival, file("n", "x"), []byte("x"), nil)
	_, readErr := j.Read(seq, nil)
	for what, err := range map[string]error{
		"Append": j.Append(Void{1}), "AppendChunk": appendErr,
		"AppendChunk of what is known": knownErr, "Read": readErr, "GiveUp": j.GiveUp(seq),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s answers %v", what, err)
		}
	}
	if len(j.Chunks()) != 1 || j.WriterID() != "" || j.Usage() == 0 {
		t.Error("what it remembered can't be seen any more")
	}
	closed(t, j)
}

// bomb is a frame whose effect panics.
type bomb struct{ Void }

func (bomb) apply(*state, log.Location) { panic("bug") }

// TestAPanicBreaksTheJournalAndNothingElse: everybody gets an answer, and the
// next start goes on.
func TestAPanicBreaksTheJournalAndNothingElse(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	before := accept(t, j, Origin{}, "before")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for {
				if _, err := j.AppendChunk(context.Background(), "tag", arrival, file(fmt.Sprint(i%4), "x"), []byte("x"), nil); err != nil {
					if !errors.Is(err, ErrBroken) {
						t.Errorf("error %v", err)
					}
					return
				}
			}
		})
	}
	if err := j.Append(bomb{}); !errors.Is(err, ErrBroken) {
		t.Errorf("error %v", err)
	}
	all.Wait()
	if got := data(t, j, before); got != "before" {
		t.Errorf("read %q", got)
	}
	closed(t, j)
	next, r := open(t, options(d.Crash(crashdisk.None, 0)))
	if len(r.Damage) > 0 || data(t, next, before) != "before" {
		t.Errorf("%+v", r)
	}
}

// cursed is a disk on which making a file panics.
type cursed struct {
	*crashdisk.Disk
	on atomic.Bool
}

func (c *cursed) Create(name string) (disk.File, error) {
	if c.on.Load() {
		panic("bug")
	}
	return c.Disk.Create(name)
}

// TestAPanicWhileASpareIsMade ends the acceptance of chunks only: what was
// accepted is finished.
func TestAPanicWhileASpareIsMade(t *testing.T) {
	d := &cursed{Disk: crashdisk.New()}
	o := options(d)
	j, _ := open(t, o)
	seq := accept(t, j, Origin{}, strings.Repeat("x", 7000))
	d.on.Store(true)
	var err error
	for range 3 { // the first may still have the spare
		if _, err = j.AppendChunk(context.Background(), "tag", arrival, Origin{}, make([]byte, 5000), nil); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrNoSpare) || !errors.Is(err, ErrBroken) {
		t.Errorf("error %v", err)
	}
	appended(t, j, Void{seq})
	closed(t, j)
}
