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

	"github.com/out-hdfs/out_hdfs/sink/disk"
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
		"another directory":  {Origin{Dir: "/s/in2", Name: "1-1.flb", Length: 4, CRC: 5}, false},
		"another name":       {Origin{Dir: "/s/in", Name: "1-2.flb", Length: 4, CRC: 5}, false},
		"another length":     {Origin{Dir: "/s/in", Name: "1-1.flb", Length: 3, CRC: 5}, false},
		"another content":    {Origin{Dir: "/s/in", Name: "1-1.flb", Length: 4, CRC: 6}, false},
		"a blurred boundary": {Origin{Dir: "/s/in\x00", Name: "1-1.flb", Length: 4, CRC: 5}, false},
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
		"its file, whose removal a power loss may undo": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			look(t, j, "/storage/in", Listed{ID: here})
			return j, d
		},
		"its file and a restart": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			look(t, j, "/storage/in", Listed{ID: here})
			return restart(t, j, d, crashdisk.None)
		},
		"its directory, which isn't mounted": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			look(t, j, "/storage/in", Listed{ID: elsewhere, Durable: true})
			return j, d
		},
		"its directory, of which nothing is known": func(t *testing.T, j *Journal, d *crashdisk.Disk) (*Journal, *crashdisk.Disk) {
			look(t, j, "/storage/in", Listed{Durable: true})
			return j, d
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

// here is the directory that files are in, elsewhere is another at its path.
var (
	here      = disk.Identity{Inode: 7, Birth: arrival}
	elsewhere = disk.Identity{Inode: 8, Birth: arrival}
)

// look looks at a directory, and finds it as it is told.
func look(t *testing.T, j *Journal, path string, found Listed) {
	t.Helper()
	looks := 0
	for _, d := range j.OriginDirs() {
		if d.Path != path {
			continue
		}
		looks++
		if err := j.ForgetGone(d, func() (Listed, error) { return found, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if looks != 1 {
		t.Fatalf("%d directories are at %s", looks, path)
	}
}

// fill accepts and ends n chunks with files.
func fill(t *testing.T, j *Journal, prefix string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := w; i < n; i += 8 {
				a, err := j.AppendChunk(context.Background(), "tag", arrival, file(fmt.Sprint(prefix, i), "x"), []byte("x"), nil)
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

// remembered are the names that the journal knows, sorted, with a + if the file
// is absent.
func remembered(j *Journal) (names []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, id := range j.st.identities {
		if id.absent > 0 {
			id.name += "+"
		}
		names = append(names, id.name)
	}
	slices.Sort(names)
	return names
}

// TestForgetGone: what a look at the directory makes of three identities.
func TestForgetGone(t *testing.T) {
	gone := errors.New("no such directory")
	for name, row := range map[string]struct {
		found Listed
		err   error
		want  []string
	}{
		"all are there":                    {Listed{ID: here, Names: []string{"a", "b", "c", "other"}, Durable: true}, nil, []string{"a", "b", "c"}},
		"one is gone for good":             {Listed{ID: here, Names: []string{"a", "c"}, Durable: true}, nil, []string{"a", "c"}},
		"all are":                          {Listed{ID: here, Durable: true}, nil, nil},
		"one is gone, and may come back":   {Listed{ID: here, Names: []string{"a", "c"}}, nil, []string{"a", "b+", "c"}},
		"another directory is there":       {Listed{ID: elsewhere, Durable: true}, nil, []string{"a+", "b+", "c+"}},
		"another one that has files":       {Listed{ID: elsewhere, Names: []string{"a"}, Durable: true}, nil, []string{"a+", "b+", "c+"}},
		"one that nothing is known of":     {Listed{Durable: true}, nil, []string{"a+", "b+", "c+"}},
		"one without a time of birth":      {Listed{ID: disk.Identity{Inode: here.Inode}, Durable: true}, nil, []string{"a+", "b+", "c+"}},
		"the directory can't be looked at": {Listed{}, gone, []string{"a+", "b+", "c+"}},
		"its listing failed in the middle": {Listed{ID: here, Names: []string{"a"}, Durable: true}, gone, []string{"a+", "b+", "c+"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			for _, name := range []string{"a", "b", "c"} {
				accept(t, j, file(name, "x"), "x")
			}
			accept(t, j, Origin{Dir: "/other/in", Name: "elsewhere", In: here}, "x")
			err := j.ForgetGone(j.OriginDirs()[1], func() (Listed, error) { return row.found, row.err })
			if !errors.Is(err, row.err) {
				t.Errorf("error %v", err)
			}
			want := append(slices.Clone(row.want), "elsewhere")
			slices.Sort(want)
			if got := remembered(j); !slices.Equal(got, want) {
				t.Errorf("remembered %v, want %v", got, want)
			}
			// Over a snapshot nothing changes.
			begun(t, j)
			j, _ = restart(t, j, d, crashdisk.None)
			if got := remembered(j); !slices.Equal(got, want) {
				t.Errorf("a restart later %v, want %v", got, want)
			}
			if len(row.want) > 0 {
				look(t, j, "/storage/in", Listed{ID: here, Names: []string{"a", "b", "c"}})
			}
			for _, name := range remembered(j) {
				if strings.HasSuffix(name, "+") {
					t.Errorf("%s is there again", name)
				}
			}
		})
	}
}

// begun begins the next segment, whose snapshot has what was forgotten.
func begun(t *testing.T, j *Journal) {
	t.Helper()
	at := j.log.Current()
	for j.log.Current() == at {
		appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", smallSegment/4))})
	}
}

// TestADirectoryThatChanges: identities stay with the directory that their files
// were seen in.
func TestADirectoryThatChanges(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	in := func(name string, id disk.Identity) {
		accept(t, j, Origin{Dir: "/storage/in", Name: name, In: id}, "x")
	}
	in("first", here)
	in("second", elsewhere)
	in("third", disk.Identity{})
	in("fourth", here)
	for range 2 {
		dirs := j.OriginDirs()
		if len(dirs) != 4 {
			t.Fatalf("%d directories", len(dirs))
		}
		begun(t, j)
		j, _ = restart(t, j, d, crashdisk.None)
	}
	for _, dir := range j.OriginDirs() {
		if err := j.ForgetGone(dir, func() (Listed, error) { return Listed{ID: here, Durable: true}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := remembered(j); !slices.Equal(got, []string{"second+", "third+"}) {
		t.Errorf("remembered %v", got)
	}
	in("fifth", here) // as it was noted last
	if n := len(j.OriginDirs()); n != 3 {
		t.Errorf("%d directories", n)
	}
}

// TestAFileMadeDuringTheListingIsntGone: it is missing in the listing, and may
// be delivered again for as long as it exists.
func TestAFileMadeDuringTheListingIsntGone(t *testing.T) {
	j, _ := open(t, options(crashdisk.New()))
	accept(t, j, file("early", "x"), "x")
	err := j.ForgetGone(j.OriginDirs()[0], func() (Listed, error) {
		accept(t, j, file("late", "x"), "x")
		return Listed{ID: here, Durable: true}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := remembered(j); !slices.Equal(got, []string{"late"}) {
		t.Errorf("remembered %v", got)
	}
}

// TestADayOfRunningTime: an identity whose file isn't seen is remembered for
// that, however long the agent is down in between. The time of a process counts
// up to its last segment.
func TestADayOfRunningTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		o := options(d)
		one := file("one", "x")
		j, _ := open(t, o)
		next := func() {
			begun(t, j)
			closed(t, j)
			time.Sleep(1000 * time.Hour) // the agent is down
			j, _ = open(t, o)
			look(t, j, "/storage/in", Listed{ID: elsewhere, Names: []string{"one", "still there"}, Durable: true})
		}
		accept(t, j, one, "x")
		still := file("still there", "x")
		accept(t, j, still, "x")
		look(t, j, "/storage/in", Listed{ID: here, Names: []string{"still there"}})
		time.Sleep(20 * time.Hour)
		next()
		if !known(t, j, one) {
			t.Error("forgotten after 20 hours of running time")
		}
		look(t, j, "/storage/in", Listed{ID: here, Names: []string{"still there"}})
		time.Sleep(3 * time.Hour)
		next()
		if !known(t, j, one) {
			t.Error("forgotten after 23 hours of running time")
		}
		look(t, j, "/storage/in", Listed{ID: here, Names: []string{"still there"}})
		time.Sleep(2 * time.Hour)
		next()
		if known(t, j, one) {
			t.Error("remembered after 25 hours of running time")
		}
		if !known(t, j, still) {
			t.Error("forgotten although the file exists")
		}
		closed(t, j)
	})
}

// TestAbsentFilesAreBounded: those that weren't seen for the longest are
// forgotten.
func TestAbsentFilesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(crashdisk.New())
		o.SegmentSize = 8 << 20
		j, _ := open(t, o)
		away := Listed{ID: elsewhere, Durable: true}
		for i := range 4 {
			fill(t, j, fmt.Sprint("f", i, "-"), mostAbsent/4+10)
			look(t, j, "/storage/in", away)
			time.Sleep(time.Minute)
		}
		look(t, j, "/storage/in", away)
		names := remembered(j)
		if len(names) != mostAbsent {
			t.Errorf("%d are remembered", len(names))
		}
		left := map[byte]int{}
		for _, n := range names {
			left[n[1]]++
		}
		if left['0'] != mostAbsent/4+10-40 || left['1'] != mostAbsent/4+10 || left['3'] != mostAbsent/4+10 {
			t.Errorf("of the four times are left %v", left)
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
