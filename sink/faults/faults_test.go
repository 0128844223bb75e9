package faults_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

// place is a disk or a target with a file a.
type place struct {
	remove func() error // the file
	exists func() bool
	ops    func() int // asked for so far
}

// places are all that take actions, each with an injector that does a to the
// operation number n from now on.
func places(t *testing.T, n int, a faults.Action) map[string]place {
	d := crashdisk.New()
	f, err := d.Create("a")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	d.SetInjector(faults.Nth[crashdisk.Op](d.Ops()+n, a))
	store := memfs.New(memfs.Options{})
	if err := store.Write("/a", nil); err != nil {
		t.Fatal(err)
	}
	target := faultfs.New(store.Driver(), faultfs.Nth(n, a))
	begun := d.Ops()
	return map[string]place{
		"disk": {
			remove: func() error { return d.Remove("a") },
			exists: func() bool { return len(d.Names()) > 0 },
			ops:    func() int { return d.Ops() - begun },
		},
		"target": {
			remove: func() error { return target.Discard(t.Context(), "/a") },
			exists: func() bool { return len(store.Files()) > 0 },
			ops:    target.Ops,
		},
	}
}

// TestAnActionIsTheSameEverywhere: one word means one thing on a disk and on a
// target.
func TestAnActionIsTheSameEverywhere(t *testing.T) {
	errMine := errors.New("mine")
	released := make(chan struct{})
	close(released)
	for _, row := range []struct {
		action  faults.Action
		fails   error
		removed bool
		takes   time.Duration
	}{
		{faults.Pass(), nil, true, 0},
		{faults.Before(errMine), errMine, false, 0},
		{faults.Before(nil), faults.ErrInjected, false, 0},
		{faults.After(errMine), errMine, true, 0},
		{faults.After(nil), faults.ErrInjected, true, 0},
		{faults.Late(errMine), errMine, false, 0},
		{faults.Delay(time.Minute), nil, true, time.Minute},
		{faults.Hang(released), nil, true, 0},
	} {
		t.Run(row.action.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for name, p := range places(t, 0, row.action) {
					begin := time.Now()
					if err := p.remove(); !errors.Is(err, row.fails) || (err == nil) != (row.fails == nil) {
						t.Errorf("the %s answers %v, want %v", name, err, row.fails)
					}
					if p.exists() == row.removed {
						t.Errorf("the file is on the %s: %v", name, p.exists())
					}
					if took := time.Since(begin); took != row.takes {
						t.Errorf("the %s took %v, want %v", name, took, row.takes)
					}
				}
			})
		})
	}
}

// TestHangHolds until it is released, and neither a disk nor a target is locked
// meanwhile.
func TestHangHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		for name, p := range places(t, 0, faults.Hang(release)) {
			answer := make(chan error, 1)
			go func() { answer <- p.remove() }()
			synctest.Wait()
			if len(answer) != 0 || !p.exists() {
				t.Errorf("the %s doesn't hang", name)
			}
			if p.ops() != 1 {
				t.Errorf("%d operations were asked of the %s", p.ops(), name)
			}
			defer func() {
				if err := <-answer; err != nil || p.exists() {
					t.Errorf("after that the %s answers %v", name, err)
				}
			}()
		}
		close(release)
	})
}

// TestNthIsNoOther counts operations alike on disks and targets.
func TestNthIsNoOther(t *testing.T) {
	for n := range 3 {
		for name, p := range places(t, n, faults.Before(nil)) {
			for i := range 3 {
				if err := p.remove(); errors.Is(err, faults.ErrInjected) != (i == n) {
					t.Errorf("%s, number %d of which %d fails: %v", name, i, n, err)
				}
			}
		}
	}
}

func TestActionsPrintThemselves(t *testing.T) {
	seen := map[string]bool{}
	actions := []faults.Action{
		faults.Pass(), faults.Before(nil), faults.After(nil), faults.Half(3, nil), faults.Hang(nil), faults.Delay(time.Second), faults.Late(nil),
	}
	for _, a := range actions {
		seen[fmt.Sprint(a)] = true
	}
	if len(seen) != len(actions) {
		t.Errorf("they are %v", seen)
	}
}
