package sink_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// deaf is a target some of whose calls hang without heeding their ctx, as on a
// dead NFS mount, until they are released.
type deaf struct {
	fs.Driver
	op      string
	release chan struct{}
	hung    *atomic.Int64
}

func (d *deaf) hang(op string) {
	if op == d.op {
		d.hung.Add(1)
		<-d.release
	}
}

func (d *deaf) Upload(ctx context.Context, src fs.Source, temp string, o fs.UploadOptions) (fs.Info, error) {
	d.hang("upload")
	info, err := d.Driver.Upload(context.WithoutCancel(ctx), src, temp, o)
	d.hang("upload, when it is done")
	return info, err
}

func (d *deaf) Publish(ctx context.Context, from fs.Info, final string, o fs.PublishOptions) error {
	d.hang("publish")
	return d.Driver.Publish(context.WithoutCancel(ctx), from, final, o)
}

func (d *deaf) Stat(ctx context.Context, p string) (fs.Info, error) {
	info, err := d.Driver.Stat(context.WithoutCancel(ctx), p)
	d.hang("stat")
	return info, err
}

func (d *deaf) Discard(ctx context.Context, p string) error {
	d.hang("discard")
	return d.Driver.Discard(context.WithoutCancel(ctx), p)
}

// TestStopWithAHungTarget: whichever call hangs and whether or not it heeds its
// ctx, the stop takes exit_timeout and hardly more, nothing begins on disk or
// target after it, the lock is free, and the successor publishes the rest.
func TestStopWithAHungTarget(t *testing.T) {
	for _, op := range []string{"open", "upload", "upload, when it is done", "stat", "publish"} {
		for _, heeds := range []bool{true, false} {
			if heeds && op == "upload, when it is done" {
				continue // it would be no different
			}
			t.Run(fmt.Sprintf("%s, heeds its ctx: %v", op, heeds), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { stopHung(t, op, heeds) })
			})
		}
	}
}

func stopHung(t *testing.T, op string, heeds bool) {
	w := sinktest.NewWorld(t)
	var diskOps, calls, hung atomic.Int64
	release := make(chan struct{})
	w.Disk.SetHook(func(crashdisk.Op) faults.Action {
		diskOps.Add(1)
		return faults.Pass()
	})
	ops := map[string][]faultfs.Op{"upload": {faultfs.UploadCreate}, "stat": {faultfs.Stat}, "publish": {faultfs.Publish}}[op]
	if heeds && op != "open" {
		w.Inject = faultfs.Every(faultfs.On(ops...), faultfs.Hang(nil))
	}
	w.Change = func(c *sink.Config) {
		c.ExitTimeout = 15 * time.Second
		open := c.OpenTarget
		c.OpenTarget = func(ctx context.Context, name string) (*fs.Client, error) {
			if op == "open" {
				hung.Add(1)
				select {
				case <-release:
				case <-map[bool]<-chan struct{}{true: ctx.Done()}[heeds]:
					return nil, ctx.Err()
				}
			}
			f, err := open(ctx, name)
			if heeds {
				return f, err
			}
			return fs.NewClient(&begun{&deaf{f, op, release, &hung}, &calls}, fs.LimitOptions{}), err
		}
	}
	s := w.Open()
	for i := range 6 {
		w.Must(s, sinktest.ChunkOf(i))
	}
	began := time.Now()
	w.Close(s)
	took := time.Since(began)
	if took < 15*time.Second || took > 17*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if hung.Load() == 0 && (!heeds || op == "open") || heeds && op != "open" && w.Inject.Fired() == 0 {
		t.Error("nothing hung")
	}
	if n := w.Log.Count("exit_timeout passed"); n != 1 {
		t.Errorf("%d lines about it", n)
	}
	if n := w.Log.Count("hangs"); (n == 1) == heeds {
		t.Errorf("%d lines about a hung call", n)
	}
	disk, begunCalls, asked := diskOps.Load(), calls.Load(), len(w.Calls())
	if f := s.Flush("tag", sinktest.ChunkOf(9).Data, sinktest.ChunkOf(9).File, sink.FlushOptions{}); f != sink.Retry {
		t.Errorf("a flush after the stop is answered %v", f)
	}
	w.Inject = nil
	next := w.Config()
	next.OpenTarget = func(context.Context, string) (*fs.Client, error) {
		return fs.NewClient(w.Watch(w.Store.Driver()), fs.LimitOptions{}), nil
	}
	w.Disk.SetHook(nil) // the successor's operations aren't counted
	successor, err := sink.Open(next)
	if err != nil {
		t.Fatalf("the lock isn't free: %v", err)
	}
	close(release) // now what hung goes on, and must stop by itself
	time.Sleep(5 * time.Minute)
	w.Close(successor)
	if d, c := diskOps.Load(), calls.Load(); d != disk || c != begunCalls || heeds && len(w.Calls()) != asked {
		t.Errorf("%d operations on the disk and %d on the target began after the stop", d-disk, c-begunCalls)
	}
	w.MustBeRight()
}

// begun counts the calls that begin.
type begun struct {
	fs.Driver
	calls *atomic.Int64
}

func (b *begun) Upload(ctx context.Context, src fs.Source, temp string, o fs.UploadOptions) (fs.Info, error) {
	b.calls.Add(1)
	return b.Driver.Upload(ctx, src, temp, o)
}

func (b *begun) Publish(ctx context.Context, from fs.Info, final string, o fs.PublishOptions) error {
	b.calls.Add(1)
	return b.Driver.Publish(ctx, from, final, o)
}

func (b *begun) Stat(ctx context.Context, p string) (fs.Info, error) {
	b.calls.Add(1)
	return b.Driver.Stat(ctx, p)
}

func (b *begun) Discard(ctx context.Context, p string) error {
	b.calls.Add(1)
	return b.Driver.Discard(ctx, p)
}

func (b *begun) Locate(ctx context.Context, id fs.FileID, names ...string) (fs.Place, error) {
	b.calls.Add(1)
	return b.Driver.Locate(ctx, id, names...)
}

// TestStopTwiceAndFlushMeanwhile: a second Close waits for the first, and a
// flush from then on is answered with RETRY at once.
func TestStopTwiceAndFlushMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.ExitTimeout = 10 * time.Second }
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		w.Must(s, sinktest.ChunkOf(1))
		done := make(chan time.Time, 2)
		for range 2 {
			go func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				done <- time.Now()
			}()
		}
		time.Sleep(time.Second)
		before := time.Now()
		if w.Flush(s, sinktest.ChunkOf(2), sink.FlushOptions{}) {
			t.Error("a chunk was accepted during the stop")
		}
		if d := time.Since(before); d > 0 {
			t.Errorf("the answer took %v", d)
		}
		if first, second := <-done, <-done; !first.Equal(second) {
			t.Errorf("one stop ended at %v, the other at %v", first, second)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		w.Store.SetDown(nil)
		w.Close(w.Open())
		w.MustBeRight()
	})
}

// TestStopWithoutTime leaves everything for the next start, however often: no
// process died, so nothing is held.
func TestStopWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		for i := range 5 {
			w.Change = func(c *sink.Config) { c.ExitTimeout = 0 }
			s := w.Open()
			w.Must(s, sinktest.ChunkOf(i))
			synctest.Wait() // decoded, and in progress
			w.Close(s)
			for _, c := range deaths(w) {
				t.Errorf("chunk %d died %d times though nobody did", c.Seq, c.Deaths)
			}
		}
		if n := w.Log.Count("exit_timeout passed"); n == 0 {
			t.Error("there was time after all")
		}
		w.Change = nil
		s := w.Open()
		if st := w.Status(s); len(st.HeldChunks) > 0 {
			t.Errorf("chunks are held: %v", st.HeldChunks)
		}
		w.Close(s)
		w.MustBeRight()
	})
}

// deaths are the chunks that the next process would take for deadly.
func deaths(w *sinktest.World) []journal.Live {
	w.T.Helper()
	d := w.Disk.Crash(crashdisk.All, 0)
	j, _, err := journal.Open(journal.Options{Disk: d, Log: w.Config().Log, SegmentSize: 8 << 10})
	if err != nil {
		w.T.Fatal(err)
	}
	chunks := j.Chunks()
	if err := j.Close(); err != nil {
		w.T.Error(err)
	}
	return slices.DeleteFunc(chunks, func(c journal.Live) bool { return c.Deaths == 0 })
}

// TestKilledShortlyAfter: a process that is killed just after it has decoded a
// chunk, three times in a row, doesn't make the chunk deadly.
func TestKilledShortlyAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.ExitTimeout = time.Second }
		for i := range 5 {
			s := w.Open()
			if i == 0 {
				w.Must(s, sinktest.One("c0", "b0"))
			}
			synctest.Wait()
			after := w.Disk.Crash(crashdisk.All, 0)
			w.Disk.SetHook(func(crashdisk.Op) faults.Action { return faults.Before(faultfs.ErrStopped) })
			_ = s.Close()
			w.Disk = after
		}
		s := w.Open()
		if st := w.Status(s); len(st.HeldChunks) > 0 {
			t.Errorf("held: %+v", st)
		}
		w.Close(s)
		w.MustBeRight()
	})
}

// TestStopTriesOnceMore: a target that backs off is tried at once when the sink
// stops, since it may be back.
func TestStopTriesOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Store.SetDown(errors.New("connection refused"))
		w.Change = func(c *sink.Config) { c.ExitTimeout = time.Second }
		s := w.Open()
		for i := range 6 {
			w.Must(s, sinktest.ChunkOf(i))
		}
		time.Sleep(time.Hour)
		w.Store.SetDown(nil)
		w.Close(s)
		w.MustBeRight()
	})
}

// TestStopWithABrokenDisk ends although no rolled part can be written.
func TestStopWithABrokenDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) {
			c.ExitTimeout = 10 * time.Second
			c.MaxOpenBuckets = 100
			c.Memory = sinktest.MemoryOf(1 << 30)
		}
		s := w.Open()
		for i := range 80 { // more than can wait to be synced
			w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i)))
		}
		synctest.Wait()
		var fired atomic.Int64
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if strings.HasPrefix(op.Name, "staged/") {
				fired.Add(1)
				return faults.Before(errors.New("input/output error"))
			}
			return faults.Pass()
		})
		began := time.Now()
		w.Close(s)
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("the stop took %v", took)
		}
		if fired.Load() == 0 {
			t.Error("the disk wasn't asked")
		}
		w.Disk.SetHook(nil)
		w.Change = nil
		w.Close(w.Open())
		w.MustBeRight()
	})
}

// TestHungInstanceHindersNoOther: beside an instance whose target hangs,
// another's parts finish at the very time at which they would alone.
func TestHungInstanceHindersNoOther(t *testing.T) {
	finish := func(t *testing.T, beside bool) (times []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if beside {
				other := sinktest.NewWorld(t)
				other.Inject = faultfs.Every(faultfs.Match{}, faultfs.Hang(nil))
				other.Change = func(c *sink.Config) { c.ExitTimeout = time.Second }
				s := other.Open()
				defer s.Close()
				for i := range 20 {
					other.Must(s, sinktest.ChunkOf(i))
				}
				synctest.Wait()
				if other.Inject.Fired() == 0 {
					t.Error("nothing hangs")
				}
			}
			w := sinktest.NewWorld(t)
			w.Consume = func(string) bool {
				times = append(times, time.Since(began))
				return false
			}
			w.Change = func(c *sink.Config) { c.Uploads = 1; c.Workers = 1 }
			s := w.Open()
			for i := range 90 {
				w.Must(s, sinktest.One(fmt.Sprintf("c%d", i), fmt.Sprintf("b%d", i/2%2)))
				time.Sleep(time.Second)
			}
			time.Sleep(2 * time.Minute)
			w.Close(s)
			w.MustBeRight()
		})
		return times
	}
	alone, beside := finish(t, false), finish(t, true)
	if len(alone) < 4 || fmt.Sprint(alone) != fmt.Sprint(beside) {
		t.Errorf("alone %v, beside a hung one %v", alone, beside)
	}
}
