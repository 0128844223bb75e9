package journal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

// mortal is a disk whose process dies after a number of operations. Some syncs
// fail before that.
type mortal struct {
	ops, syncs atomic.Int64
	limit      int64 // operations that take effect; 0 is no limit
	failSync   int64 // every so many syncs fail; 0 is none
	after      bool  // with their effect
}

func (m *mortal) hook(op crashdisk.Op) faults.Action {
	if n := m.ops.Add(1); m.limit > 0 && n > m.limit {
		return faults.Before(errStopped)
	}
	if op.Kind == crashdisk.Sync && m.failSync > 0 && m.syncs.Add(1)%m.failSync == 0 {
		if m.after {
			return faults.After(syscall.EIO)
		}
		return faults.Before(syscall.EIO)
	}
	return faults.Pass()
}

// live runs the script on a disk that dies, and returns the run; its journal
// could perhaps not even be opened.
func live(d *crashdisk.Disk, m *mortal) *run {
	d.SetHook(m.hook)
	r := newRun(nil)
	j, _, err := Open(options(d))
	if err != nil {
		return r
	}
	r.j = j
	r.script()
	_ = j.Close()
	return r
}

// TestStoppedAfterEveryOperation stops a run after the n-th operation on the
// disk, for every n, and lets power go in every way. What was answered with
// nil is there; of what wasn't, one step at most, and whole.
func TestStoppedAfterEveryOperation(t *testing.T) {
	for name, row := range map[string]struct {
		failSync int64
		after    bool
	}{
		"all syncs work":                 {},
		"some syncs fail":                {failSync: 7},
		"some syncs fail, having worked": {failSync: 7, after: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := mortal{failSync: row.failSync, after: row.after}
			live(crashdisk.New(), &whole)
			step := int64(1)
			if testing.Short() {
				step = 11
			}
			for n := int64(1); n <= whole.ops.Load(); n += step {
				m := &mortal{limit: n, failSync: row.failSync, after: row.after}
				d := crashdisk.New()
				r := live(d, m)
				for _, c := range crashes(uint64(n)) {
					if err := checkCrash(r, d.Crash(c.keep, c.seed)); err != nil {
						t.Fatalf("stopped after operation %d, unsynced %v: %v", n, c, err)
					}
				}
			}
			t.Logf("%d operations", whole.ops.Load())
		})
	}
}

type crash struct {
	keep crashdisk.Keep
	seed uint64
}

func crashes(seed uint64) []crash {
	return []crash{{crashdisk.None, 0}, {crashdisk.All, 0}, {crashdisk.Killed, 0},
		{crashdisk.Some, seed}, {crashdisk.Some, seed + 1<<20}}
}

// checkCrash opens what a crash left and compares it with the run. Then power
// goes without anything more being written: what was recovered once may have
// been acted on, so it must be there again.
func checkCrash(r *run, d *crashdisk.Disk) error {
	j, report, err := Open(options(d))
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { _ = j.Close() }()
	if len(report.Damage) > 0 {
		return fmt.Errorf("damage is reported: %v", report.Damage)
	}
	if err := r.recovered(j); err != nil {
		return err
	}
	before := describe(j)
	again, report, err := Open(options(d.Crash(crashdisk.None, 0)))
	if err != nil {
		return fmt.Errorf("open after a second crash: %w", err)
	}
	defer func() { _ = again.Close() }()
	if after := describe(again); after != before || len(report.Damage) > 0 {
		return fmt.Errorf("a second crash, of power, left %v\n%s\nof\n%s", report.Damage, after, before)
	}
	return usable(again)
}

// usable checks that a journal still does its work.
func usable(j *Journal) error {
	a, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, []byte("one more"), nil)
	if err != nil {
		return fmt.Errorf("it isn't usable: %w", err)
	}
	p, err := j.Read(a.Seq, nil)
	if err != nil || string(p.Data) != "one more" {
		return fmt.Errorf("it isn't usable: read %q: %w", p.Data, err)
	}
	return errors.Join(j.Append(Void{a.Seq}), j.Close())
}

// fault fails the n-th operation in one way.
type fault struct {
	n     int64
	fault faults.Action
	ops   atomic.Int64
}

func (f *fault) hook(crashdisk.Op) faults.Action {
	if f.ops.Add(1) == f.n {
		return f.fault
	}
	return faults.Pass()
}

func (f *fault) fired() bool { return f.ops.Load() >= f.n }

var faultWays = map[string]faults.Action{
	"before":   faults.Before(syscall.EIO),
	"no space": faults.Before(syscall.ENOSPC),
	"after":    faults.After(syscall.EIO),
	"half":     faults.Half(0, syscall.EIO),
}

// TestEveryOperationFailsOnce lets the n-th operation of a run fail once, for
// every n. Each step is tried again, and in the end everything is there once.
func TestEveryOperationFailsOnce(t *testing.T) {
	for way, what := range faultWays {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			failures, step := 0, int64(1)
			if testing.Short() {
				step = 7
			}
			for n := int64(1); ; n += step {
				f := &fault{n: n, fault: what}
				d := crashdisk.New()
				d.SetHook(f.hook)
				j, _, err := Open(options(d))
				if err != nil { // the agent is started again
					j, _, err = Open(options(d))
				}
				if err != nil {
					t.Fatalf("operation %d: %v", n, err)
				}
				r := newRun(j)
				r.tries = 3
				r.script()
				if r.stopped {
					t.Fatalf("operation %d fails, and then all do", n)
				}
				r.maybe = nil // after the last step nothing is open
				failures += r.failed
				if err := j.Close(); err != nil {
					t.Errorf("operation %d: close: %v", n, err)
				}
				if d.Handles() != 0 {
					t.Errorf("operation %d: %d files are still open", n, d.Handles())
				}
				for _, keep := range []crashdisk.Keep{crashdisk.None, crashdisk.All, crashdisk.Killed} {
					if err := checkCrash(r, d.Crash(keep, 0)); err != nil {
						t.Fatalf("operation %d failed, unsynced %v: %v", n, keep, err)
					}
				}
				if !f.fired() {
					break
				}
			}
			if failures < 50/int(step) {
				t.Errorf("only %d steps failed", failures)
			}
		})
	}
}

// TestEveryOperationOfOpenFailsOnce lets each operation of a recovery fail
// once: Open answers an error or the whole state, and the next one the whole
// state in any case.
func TestEveryOperationOfOpenFailsOnce(t *testing.T) {
	left := crashdisk.New()
	r := live(left, &mortal{limit: 300})
	left.SetHook(nil)
	for way, what := range faultWays {
		t.Run(way, func(t *testing.T) {
			failed := 0
			for n := int64(1); ; n++ {
				d := left.Crash(crashdisk.Killed, 0)
				f := &fault{n: n, fault: what}
				d.SetHook(f.hook)
				j, _, err := Open(options(d))
				d.SetHook(nil)
				if err == nil {
					err = r.recovered(j)
					_ = j.Close()
					if err != nil {
						t.Fatalf("operation %d: %v", n, err)
					}
				} else {
					failed++
					if d.Handles() != 0 {
						t.Errorf("operation %d: %d files are still open", n, d.Handles())
					}
					if err := checkCrash(r, d.Crash(crashdisk.None, 0)); err != nil {
						t.Fatalf("operation %d failed with Open: %v", n, err)
					}
				}
				if !f.fired() {
					break
				}
			}
			if failed < 5 {
				t.Errorf("only %d times did Open fail", failed)
			}
		})
	}
}
