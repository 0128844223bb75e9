package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// known reports whether a chunk that is delivered is known, and accepts it if
// it isn't.
func known(t *testing.T, j *Journal, o Origin) bool {
	t.Helper()
	a, err := j.AppendChunk(context.Background(), "tag", arrival, o, []byte("data"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Known != (a.Seq == 0) {
		t.Errorf("%+v", a)
	}
	return a.Known
}

func TestWhatMakesAnIdentity(t *testing.T) {
	first := Origin{Dir: "/s/in", Name: "1-1.flb", Length: 4, CRC: 5}
	for name, row := range map[string]struct {
		o    Origin
		want bool
	}{
		"the same":           {first, true},
		"another directory":  {Origin{"/s/in2", "1-1.flb", 4, 5}, false},
		"another name":       {Origin{"/s/in", "1-2.flb", 4, 5}, false},
		"another length":     {Origin{"/s/in", "1-1.flb", 3, 5}, false},
		"another content":    {Origin{"/s/in", "1-1.flb", 4, 6}, false},
		"a blurred boundary": {Origin{"/s/in\x00", "1-1.flb", 4, 5}, false},
		"no file":            {Origin{}, false},
		"no name":            {Origin{Dir: "/s/in", Length: 4, CRC: 5}, false},
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := open(t, options(crashdisk.New()))
			if known(t, j, first) {
				t.Fatal("the first is known")
			}
			if got := known(t, j, row.o); got != row.want {
				t.Errorf("known: %v", got)
			}
			if row.o.Name == "" && known(t, j, row.o) {
				t.Error("a chunk without a file is known")
			}
		})
	}
}

// TestAnIdentityOutlives has a row for each thing that ends something else.
func TestAnIdentityOutlives(t *testing.T) {
	o := file("the one", "data")
	for name, end := range map[string]func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk){
		"nothing": func(_ *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) { return j, d },
		"a restart": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			return restart(t, j, d, crashdisk.None)
		},
		"its chunk": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			appended(t, j, whole(j, 1))
			return j, d
		},
		"its chunk and a restart": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			appended(t, j, whole(j, 1))
			return restart(t, j, d, crashdisk.None)
		},
		"its segment": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			appended(t, j, Void{1})
			for i := range 20 {
				appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", 2000+i))})
			}
			if slices.Contains(segmentsOf(d), log.SegmentName(1)) {
				t.Fatal("the segment isn't gone")
			}
			return restart(t, j, d, crashdisk.None)
		},
		"its file": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			markGone(t, j)
			return j, d
		},
		"its file, its segment and a restart": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			markGone(t, j)
			appended(t, j, Void{1})
			for i := range 20 {
				appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", 2000+i))})
			}
			return restart(t, j, d, crashdisk.None)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			if known(t, j, o) {
				t.Fatal("it is known before")
			}
			j, _ = end(t, j, d)
			if !known(t, j, o) {
				t.Error("it is forgotten")
			}
		})
	}
}

// markGone has enough other chunk files, and none of them exist any more.
func markGone(t *testing.T, j *Journal) {
	t.Helper()
	fill(t, j, seenBatchSize)
	if err := j.MarkGone("/storage/in", func() ([]string, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if n := len(presentNames(j)); n != 0 {
		t.Fatalf("%d are still present", n)
	}
}

// fill accepts and ends n chunks with files.
func fill(t *testing.T, j *Journal, n int) {
	t.Helper()
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := w; i < n; i += 8 {
				a, err := j.AppendChunk(context.Background(), "tag", arrival, file(fmt.Sprint("f", i), "x"), []byte("x"), nil)
				if err == nil && !a.Known {
					err = j.Append(Void{a.Seq})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func presentNames(j *Journal) (names []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.st.present {
		names = append(names, p.name)
	}
	return names
}

func TestMarkGone(t *testing.T) {
	d := crashdisk.New()
	o := options(d)
	o.SegmentSize = 1 << 20
	j, _ := open(t, o)
	fill(t, j, seenBatchSize+10)
	accept(t, j, Origin{"/other/in", "x", 1, 1}, "x")
	if got := j.OriginDirs(); !slices.Equal(got, []string{"/other/in", "/storage/in"}) {
		t.Errorf("directories %v", got)
	}
	gone := func(names ...string) error {
		return j.MarkGone("/storage/in", func() ([]string, error) { return names, nil })
	}
	errList := errors.New("no such mount")
	if err := j.MarkGone("/storage/in", func() ([]string, error) { return nil, errList }); !errors.Is(err, errList) {
		t.Errorf("error %v", err)
	}
	if n := len(presentNames(j)); n != seenBatchSize+11 {
		t.Errorf("a failed listing leaves %d", n)
	}
	exist := make([]string, 11)
	for i := range exist {
		exist[i] = fmt.Sprint("f", i)
	}
	if err := gone(exist...); err != nil || len(presentNames(j)) != seenBatchSize+11 {
		t.Errorf("one too few for a frame leave %d: %v", len(presentNames(j)), err)
	}
	if err := gone(exist[:10]...); err != nil || len(presentNames(j)) != 11 {
		t.Errorf("%d are left: %v", len(presentNames(j)), err)
	}
	for i := range seenBatchSize + 10 {
		if !known(t, j, file(fmt.Sprint("f", i), "x")) {
			t.Fatalf("file %d is forgotten", i)
		}
	}
	listed := false
	if err := j.MarkGone("/other/in", func() ([]string, error) { listed = true; return nil, nil }); err != nil || listed {
		t.Errorf("a directory was listed for the sake of one name: %v", err)
	}
}

// TestAFileMadeDuringTheListingIsntGone: it is missing in the listing, and may
// be delivered again for as long as it exists.
func TestAFileMadeDuringTheListingIsntGone(t *testing.T) {
	o := options(crashdisk.New())
	o.SegmentSize = 1 << 20
	j, _ := open(t, o)
	fill(t, j, seenBatchSize)
	late := file("late", "x")
	err := j.MarkGone("/storage/in", func() ([]string, error) {
		accept(t, j, late, "x")
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := presentNames(j); !slices.Equal(got, []string{"late"}) {
		t.Errorf("present are %d, first %v", len(got), got[:1])
	}
}

// TestForgotten: an identity whose file is gone is remembered for a day of
// running time, however long the agent is down in between. The time of a
// process counts up to its last segment.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		o := options(d)
		o.SegmentSize = 256 << 10
		one := file("f7", "x")
		next := func(j *Journal) *Journal {
			appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", 256<<10))})
			closed(t, j)
			j, _ = open(t, o)
			return j
		}
		j, _ := open(t, o)
		markGone(t, j)
		still := file("still there", "x")
		accept(t, j, still, "x")
		time.Sleep(20 * time.Hour)
		j = next(j)
		closed(t, j)
		time.Sleep(1000 * time.Hour) // the agent is down
		j, _ = open(t, o)
		if !known(t, j, one) {
			t.Error("forgotten after 20 hours of running time")
		}
		time.Sleep(3 * time.Hour)
		j = next(j)
		if !known(t, j, one) {
			t.Error("forgotten after 23 hours of running time")
		}
		time.Sleep(2 * time.Hour)
		j = next(j)
		if known(t, j, one) {
			t.Error("remembered after 25 hours of running time")
		}
		time.Sleep(1000 * time.Hour)
		j = next(j)
		if !known(t, j, still) {
			t.Error("forgotten although the file exists")
		}
		if n := len(j.st.batches); n != 0 {
			t.Errorf("%d frames of identities are kept", n)
		}
		closed(t, j)
	})
}

// TestOneOriginIsAcceptedOnce delivers one chunk from many goroutines while the
// disk is slow, and fails at first.
func TestOneOriginIsAcceptedOnce(t *testing.T) {
	for name, failing := range map[string]int{"all syncs work": 0, "the first syncs fail": 3} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := crashdisk.New()
				j, _ := open(t, options(d))
				fail := &on{match: func(op crashdisk.Op) bool { return op.Kind == crashdisk.Sync },
					fault: faults.Before(syscall.EIO), times: failing}
				var lock sync.Mutex
				d.SetHook(func(op crashdisk.Op) faults.Action {
					if op.Kind == crashdisk.Sync {
						time.Sleep(time.Second)
					}
					lock.Lock()
					defer lock.Unlock()
					return fail.hook(op)
				})
				var all sync.WaitGroup
				var mu sync.Mutex
				var seqs []uint64
				errs, knowns := 0, 0
				for range 64 {
					all.Go(func() {
						a, err := j.AppendChunk(context.Background(), "tag", arrival, file("n", "data"), []byte("data"), nil)
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err != nil:
							errs++
						case a.Known:
							knowns++
						default:
							seqs = append(seqs, a.Seq)
						}
					})
				}
				all.Wait()
				if len(seqs) != 1 || errs > failing || knowns != 63-errs {
					t.Errorf("accepted %d times, known %d times, %d errors", len(seqs), knowns, errs)
				}
				if n := len(j.Chunks()); n != 1 {
					t.Errorf("%d chunks", n)
				}
				d.SetHook(nil)
				closed(t, j)
			})
		})
	}
}

// TestAVoidChunkIsNewAgain is the redelivery after an error.
func TestAVoidChunkIsNewAgain(t *testing.T) {
	for name, row := range map[string]struct {
		kind  crashdisk.Kind
		fault faults.Action
	}{
		"the write failed":               {crashdisk.Write, faults.Before(syscall.EIO)},
		"half of it was written":         {crashdisk.Write, faults.Half(0, syscall.EIO)},
		"it was written all the same":    {crashdisk.Write, faults.After(syscall.EIO)},
		"the sync failed":                {crashdisk.Sync, faults.Before(syscall.EIO)},
		"the sync worked all the same":   {crashdisk.Sync, faults.After(syscall.EIO)},
		"the sync was for half of pages": {crashdisk.Sync, faults.Half(0, syscall.EIO)},
	} {
		t.Run(name, func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			before := accept(t, j, Origin{}, "before")
			fail := &on{match: func(op crashdisk.Op) bool { return op.Kind == row.kind }, fault: row.fault, times: 1}
			d.SetHook(fail.hook)
			o := file("n", "data")
			if _, err := j.AppendChunk(context.Background(), "tag", arrival, o, []byte("data"), nil); !errors.Is(err, syscall.EIO) {
				t.Fatalf("error %v", err)
			}
			if len(j.Chunks()) != 1 {
				t.Error("the void chunk is live")
			}
			if known(t, j, o) {
				t.Error("the void chunk is known")
			}
			if !known(t, j, o) {
				t.Error("the accepted chunk is new")
			}
			for _, keep := range []crashdisk.Keep{crashdisk.None, crashdisk.All, crashdisk.Killed} {
				next, r := open(t, options(d.Crash(keep, 0)))
				if len(r.Damage) > 0 || len(next.Chunks()) != 2 || !known(t, next, o) || data(t, next, before) != "before" {
					t.Errorf("after a crash: %d chunks, damage %v", len(next.Chunks()), r.Damage)
				}
			}
		})
	}
}

// TestWhatFollowsAVoidFrameStaysVoid: two frames fail, and one of the first's
// size succeeds. The second must not be taken for what follows it.
func TestWhatFollowsAVoidFrameStaysVoid(t *testing.T) {
	for way, fault := range faultWays {
		t.Run(way, func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			fail := &on{match: func(op crashdisk.Op) bool { return op.Kind == crashdisk.Sync }, fault: fault, times: 1}
			d.SetHook(fail.hook)
			if err := j.Append(Rolled{Part: Part{Number: 1}}, Rolled{Part: Part{Number: 2}}); !errors.Is(err, fault.Err) {
				t.Fatalf("error %v", err)
			}
			appended(t, j, Rolled{Part: Part{Number: 3}})
			for _, keep := range []crashdisk.Keep{crashdisk.None, crashdisk.All, crashdisk.Killed} {
				next, _ := open(t, options(d.Crash(keep, 0)))
				if p := next.Parts(); len(p) != 1 || p[0].Number != 3 {
					t.Errorf("unsynced %v: parts %v", keep, p)
				}
			}
		})
	}
}
