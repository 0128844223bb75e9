package journal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// TestBeginFails fails each step of beginning a segment once. The append is
// void, the next one works, and what the predecessor got in between, if it got
// any, survives a crash that leaves the failed segment's name or not.
func TestBeginFails(t *testing.T) {
	inJournal := func(kind crashdisk.Kind) func(crashdisk.Op) bool {
		return func(op crashdisk.Op) bool { return op.Kind == kind && strings.HasPrefix(op.Name, Dir) }
	}
	for name, match := range map[string]func(crashdisk.Op) bool{
		"open": func(op crashdisk.Op) bool {
			return op.Kind == crashdisk.Open && strings.Contains(op.Name, log.SparePrefix)
		},
		"write":   inJournal(crashdisk.Write),
		"sync":    inJournal(crashdisk.Sync),
		"rename":  inJournal(crashdisk.Rename),
		"syncdir": inJournal(crashdisk.SyncDir),
	} {
		for way, fault := range faultWays {
			t.Run(name+" "+way, func(t *testing.T) {
				d := crashdisk.New()
				j, _ := open(t, options(d))
				first := accept(t, j, Origin{}, "first "+strings.Repeat("x", 5000))
				fail := &on{match: match, fault: fault, times: 1}
				d.SetHook(fail.hook)
				tried := j.log.Current() + 1
				// It doesn't fit, so a segment is begun.
				if _, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, make([]byte, 4000), nil); !errors.Is(err, fault.Err) {
					t.Fatalf("error %v", err)
				}
				// This fits into the old one.
				small := accept(t, j, Origin{}, "small")
				if j.log.Current() == tried {
					t.Error("the number of the segment that failed is used again")
				}
				want := func(j *Journal, when string, more ...uint64) {
					for _, seq := range append([]uint64{first, small}, more...) {
						if _, err := j.Read(seq, nil); err != nil {
							t.Errorf("%s: %v", when, err)
						}
					}
					if n := len(j.Chunks()); n != 2+len(more) {
						t.Errorf("%s: %d chunks", when, n)
					}
				}
				want(j, "before a crash")
				for seed := range uint64(16) {
					next, _ := open(t, options(d.Crash(crashdisk.Some, seed)))
					want(next, "after a crash")
					closed(t, next)
				}
				large := accept(t, j, Origin{}, strings.Repeat("y", 4000))
				if j.log.Current() <= tried {
					t.Error("the number of the segment that failed is used again")
				}
				j, _ = restart(t, j, d, crashdisk.All)
				want(j, "in the end", large)
				if fail.fired != 1 {
					t.Error("nothing failed")
				}
			})
		}
	}
}

// TestNumbersAreNeverUsedAgain also when the segments that had them are gone.
func TestNumbersAreNeverUsedAgain(t *testing.T) {
	d := crashdisk.New()
	seen := map[string]bool{}
	fail := &on{match: func(op crashdisk.Op) bool { return op.Kind == crashdisk.SyncDir && op.Name == Dir }, fault: faults.Before(syscall.EIO)}
	d.SetHook(func(op crashdisk.Op) faults.Action { return fail.hook(op) })
	for range 4 {
		j, _ := open(t, options(d))
		for i := range 10 {
			fail.times = i % 2
			a, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, make([]byte, 7000), nil)
			if err == nil {
				appended(t, j, Void{a.Seq})
			}
			name := log.SegmentName(j.log.Current())
			if seen[name] && err == nil {
				t.Fatalf("%s again", name)
			}
			seen[name] = err == nil || seen[name]
		}
		fail.times = 0
		closed(t, j)
	}
	if len(seen) < 15 {
		t.Errorf("only %d segments", len(seen))
	}
}

// TestASecondNameOfASegmentIsNoSpare: a crash between the two halves of a
// rename may leave a file under both names, and a spare that is a segment too
// would be written over.
func TestASecondNameOfASegmentIsNoSpare(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	var mu sync.Mutex
	var crashes []*crashdisk.Disk
	twice := 0
	d.SetHook(func(op crashdisk.Op) faults.Action {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind == crashdisk.SyncDir && len(crashes) < 200 { // renamed, and not for good
			for seed := range uint64(20) {
				c := d.Crash(crashdisk.Some, seed)
				crashes = append(crashes, c)
				if len(sparesOf(c))+len(segmentsOf(c)) > len(sparesOf(d))+len(segmentsOf(d)) {
					twice++
				}
			}
		}
		return faults.Pass()
	})
	live := accept(t, j, Origin{}, "live")
	for range 12 {
		appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", 3000))})
	}
	mu.Lock()
	defer mu.Unlock()
	d.SetHook(nil)
	if twice < 5 {
		t.Fatalf("only %d crashes leave a file twice", twice)
	}
	for i, crashed := range crashes {
		j, _ := open(t, options(crashed))
		for range 12 { // uses whatever it takes for a spare
			appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("y", 3000))})
		}
		j, _ = restart(t, j, crashed, crashdisk.None)
		if got := data(t, j, live); got != "live" {
			t.Fatalf("crash %d: read %q", i, got)
		}
		closed(t, j)
	}
}

// TestSparesAreTakenUp: on a full disk a start has no other.
func TestSparesAreTakenUp(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	accept(t, j, Origin{}, "x")
	closed(t, j)
	spares := sparesOf(d)
	if len(spares) != 1 {
		t.Fatalf("spares %v", spares)
	}
	d.SetCapacity(d.Used())
	j, _ = open(t, options(d))
	if err := j.Append(Decoding{}); err != nil {
		t.Error(err)
	}
	closed(t, j)
	if slices.Contains(d.Names(), spares[0]) {
		t.Error("the spare wasn't used")
	}
}
