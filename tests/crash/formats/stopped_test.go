package formats

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// death ends a process on one of its operations on disk and target: neither
// that one nor any later one takes effect, but for one of the target's that may
// be under way, and lands later.
type death struct {
	at   int64 // the operations before it still take effect; 0 is never
	late bool

	ops     atomic.Int64
	over    atomic.Bool
	pending atomic.Bool // an operation is under way
}

// hit counts an operation. over says that the process has ended, and last that
// it did with this operation.
func (d *death) hit() (over, last bool) {
	if n := d.ops.Add(1); d.at > 0 && n > d.at {
		last = !d.over.Swap(true)
	}
	return d.over.Load(), last
}

func (d *death) disk(crashdisk.Op) faults.Action {
	if over, _ := d.hit(); over {
		return faults.Before(faultfs.ErrStopped)
	}
	return faults.Pass()
}

// Decide implements faultfs.Injector.
func (d *death) Decide(c faultfs.Call) faultfs.Action {
	over, last := d.hit()
	switch {
	case last && d.late && (c.Op == faultfs.Publish || c.Op == faultfs.Discard):
		d.pending.Store(true)
		return faultfs.Late(faultfs.ErrStopped)
	case over:
		return faultfs.FailBefore(0, faultfs.ErrStopped)
	}
	return faultfs.Pass()
}

func (d *death) Fired() int     { return 0 }
func (d *death) String() string { return "the process's end" }

// rough is what goes wrong on the target in every process.
func rough() []faultfs.Injector {
	pass := faultfs.Pass()
	return []faultfs.Injector{
		faultfs.Script(faultfs.On(faultfs.UploadClose), pass, faultfs.FailAfter(nil)),
		faultfs.Script(faultfs.On(faultfs.UploadWrite), pass, pass, pass, faultfs.Half(10, 0, nil)),
		faultfs.Script(faultfs.On(faultfs.Publish), faultfs.FailAfter(nil), pass, faultfs.FailBefore(0, nil)),
	}
}

// life is one process: it delivers what Fluent Bit still has, until it has
// nothing or the process ends.
func (w *world) life(f codec.Format, d *death) (died bool) {
	w.disk.SetHook(d.disk)
	w.inject = faultfs.First(append([]faultfs.Injector{d}, rough()...)...)
	s, err := w.open(f)
	if err != nil {
		if !errors.Is(err, faultfs.ErrStopped) {
			w.t.Fatal(err)
		}
		return true
	}
	for i := range chunks {
		if !w.pending(i) {
			continue
		}
		if !w.deliver(s, i, 1) {
			break
		}
		if i%5 != 4 { // the answer of every fifth is lost: its file stays
			w.acked(i)
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = s.Close()
	return d.over.Load()
}

// lastLife is a process in which all goes well, and that has the time that it
// takes. What the processes before it had asked of the target lands meanwhile.
func (w *world) lastLife(f codec.Format) []string {
	w.inject = nil
	go func() {
		time.Sleep(900 * time.Millisecond)
		w.land()
	}()
	s, err := w.open(f)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range chunks {
		if w.pending(i) && !w.deliver(s, i, 5) {
			w.t.Fatalf("chunk %d is refused after the restart", i)
		}
	}
	time.Sleep(3 * time.Minute) // late temps are confirmed gone
	if err := s.Close(); err != nil {
		w.t.Error(err)
	}
	return w.check()
}

// sample is how many operations of a run are tried, of those there are.
func sample(usual int) int64 {
	if testing.Short() {
		return int64(usual / 5)
	}
	return int64(usual)
}

// restarts are the configurations that a process finds after one that ended,
// beside another format.
func restarts() []func(*sink.Config) {
	return []func(*sink.Config){
		nil,
		func(c *sink.Config) { c.Base, c.WriterID = "/elsewhere", "other" },
		func(c *sink.Config) { c.Policy, c.MaxOpenBuckets, c.Memory = byRecords(1), 1, sinktest.MemoryOf(0) },
	}
}

// TestStoppedWhileWriting stops a process that writes a format on operations
// all over its life, and every other time the next one too, which is configured
// for another format. A third then finishes what they left, in yet another.
func TestStoppedWhileWriting(t *testing.T) {
	all := kinds()
	for at, k := range all {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			var whole death
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.life(newFormat(t, k), &whole)
				for _, fault := range w.check() {
					t.Error(fault)
				}
				files, _, _ := w.published()
				if files["."+extension(k)] < 5 || files["dead letters"] == 0 {
					t.Errorf("a whole run publishes only %v", files)
				}
			})
			total, seed := whole.ops.Load(), rand.Uint64()
			step := max(1, total/sample(500))
			rng := rand.New(rand.NewPCG(seed, 3))
			t.Logf("a whole run has %d operations, every %dth is tried, seed %d", total, step, seed)
			died, again, late, tries := 0, 0, 0, int64(0)
			for n := 1 + rng.Int64N(step); n <= total && !t.Failed(); n += step {
				tries++
				keep, next := crashdisk.Keep(tries/4%4), int(tries)
				second := &death{late: tries%4 < 2}
				if tries%2 == 1 {
					second.at = 1 + rng.Int64N(total)
				}
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					first := &death{at: n, late: tries%4 >= 2}
					if w.life(newFormat(t, k), first) {
						died++
					}
					w.disk = w.disk.Crash(keep, uint64(n))
					w.cfg = restarts()[next%3]
					if second.at > 0 {
						if w.life(newFormat(t, all[(at+next)%len(all)]), second) {
							again++
						}
						w.disk = w.disk.Crash(crashdisk.Keep((tries+1)%3), uint64(n))
					}
					if first.pending.Load() || second.pending.Load() {
						late++
					}
					w.cfg = restarts()[next/3%3]
					for _, fault := range w.lastLife(newFormat(t, all[(at+next+next/4)%len(all)])) {
						t.Errorf("stopped before operations %d and %d, unsynced %v: %s", n, second.at, keep, fault)
					}
				})
			}
			t.Logf("%d of %d runs were stopped, %d of them twice, %d with an operation of the target's under way", died, tries, again, late)
			if late == 0 && !testing.Short() {
				t.Error("no run was stopped with an operation under way")
			}
			if int64(died) < tries*8/10 || again == 0 {
				t.Errorf("only %d of %d runs were stopped, %d of them twice", died, tries, again)
			}
		})
	}
}

func extension(k kind) string {
	if k.name == "sequencefile" {
		return "seq"
	}
	return k.name
}
