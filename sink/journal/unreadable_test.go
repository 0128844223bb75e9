package journal

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// TestUnreadableSectors has the disk answer EIO for a log.Sector for good.
func TestUnreadableSectors(t *testing.T) {
	for name, row := range map[string]struct {
		at   func(w *worn) int64
		says int
	}{
		"in a frame":          {func(w *worn) int64 { return w.frames["b3"].Offset + 500 }, loud},
		"in a frame's header": {func(w *worn) int64 { return w.frames["b3"].Offset + 2 }, loud},
		"in the last frame":   {func(w *worn) int64 { return w.end - 30 }, loud},
		"behind the end":      {func(w *worn) int64 { return w.end + 9000 }, silent},
		"in the header":       {func(*worn) int64 { return 3 }, loud},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorn(t)
			bad := row.at(w) &^ (log.Sector - 1)
			hit := func(from, to int64) bool { return from < bad+log.Sector && bad < to }
			w.d.SetHook(func(op crashdisk.Op) faults.Action {
				if op.Kind == crashdisk.Read && op.Name == w.newer && hit(op.Offset, op.Offset+op.Length) {
					return faults.Before(syscall.EIO)
				}
				return faults.Pass()
			})
			var lost []string
			for label, f := range w.frames {
				if label[0] == 'b' && hit(f.Offset, end(f)) {
					lost = append(lost, label)
				}
			}
			w.survives(t, lost, row.says == loud)
		})
	}
}

// TestAPassingReadErrorLosesNothing fails each read once.
func TestAPassingReadErrorLosesNothing(t *testing.T) {
	failed := 0
	for n := int64(1); ; n++ {
		w := newWorn(t)
		reads := int64(0)
		w.d.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Read {
				if reads++; reads == n {
					failed++
					return faults.Before(syscall.EIO)
				}
			}
			return faults.Pass()
		})
		j, r := open(t, wornOptions(w.d))
		w.d.SetHook(nil)
		if len(r.Damage) > 0 || r.Chunks != 20 {
			t.Fatalf("read %d: %+v", n, r)
		}
		closed(t, j)
		if reads < n {
			break
		}
	}
	if failed < 4 {
		t.Errorf("only %d reads failed", failed)
	}
}

func TestADamagedChunkIsFoundWhenItIsRead(t *testing.T) {
	w := newWorn(t)
	j, _ := open(t, wornOptions(w.d))
	var seq uint64
	for _, c := range j.Chunks() {
		if strings.HasPrefix(data(t, j, c.Seq), "a5") {
			seq = c.Seq
		}
	}
	w.flip(t, w.older, w.frames["a5"].Offset+100)
	before := w.d.Content(w.older)
	var damage *DamageError
	if _, err := j.Read(seq, nil); !errors.As(err, &damage) || damage.Offset != w.frames["a5"].Offset || errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v", err)
	}
	if err := j.GiveUp(seq); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Read(seq, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("given up, it is read with %v", err)
	}
	if err := j.GiveUp(seq); err != nil {
		t.Errorf("given up once more: %v", err)
	}
	if !bytes.Equal(w.d.Content(w.older), before) {
		t.Error("its segment is gone while others in it are live")
	}
	w.finish(t, j, "a")
	if !bytes.Equal(w.aside(w.d), before) {
		t.Error("its segment wasn't set aside")
	}
	j, _ = restart(t, j, w.d, crashdisk.None)
	if _, ok := j.Chunk(seq); ok {
		t.Error("it is back after a crash")
	}
	if accept(t, j, file("a5", wornBody("a5")), wornBody("a5")) == 0 {
		t.Error("it is taken for known")
	}
}

// aside is the older segment where damaged ones are set aside.
func (w *worn) aside(d *crashdisk.Disk) []byte {
	return d.Content(strings.Replace(w.older, Dir, log.DamagedDir, 1))
}

// finish ends the chunks of a group that are live.
func (w *worn) finish(t *testing.T, j *Journal, group string) {
	t.Helper()
	for _, c := range j.Chunks() {
		if p, err := j.Read(c.Seq, nil); err != nil || string(p.Data[:1]) == group {
			appended(t, j, Void{c.Seq})
		}
	}
	appended(t, j, Decoding{}) // the writer is through with what came before
}

// TestSetAside fails each step of setting a damaged segment aside: its bytes are
// there all the time, and in the end it is aside, whole.
func TestSetAside(t *testing.T) {
	steps := 0
	for n := 1; ; n++ {
		w := newWorn(t)
		j, _ := open(t, wornOptions(w.d))
		w.flip(t, w.older, w.frames["a2"].Offset+100)
		before := w.d.Content(w.older)
		if err := j.GiveUp(j.Chunks()[2].Seq); err != nil {
			t.Fatal(err)
		}
		ops := 0
		w.d.SetHook(func(op crashdisk.Op) faults.Action {
			if strings.HasPrefix(op.Name, log.DamagedDir) || op.Kind == crashdisk.Rename && op.Name == w.older {
				if ops++; ops == n {
					steps++
					return faults.Before(syscall.EIO)
				}
			}
			return faults.Pass()
		})
		w.finish(t, j, "a")
		w.d.SetHook(nil)
		for _, keep := range []crashdisk.Keep{crashdisk.None, crashdisk.All} { // a rename is one step
			crashed := w.d.Crash(keep, 1)
			if !bytes.Equal(w.aside(crashed), before) && !bytes.Equal(crashed.Content(w.older), before) {
				t.Errorf("operation %d: a crash loses the segment", n)
			}
		}
		closed(t, j)
		j, _ = open(t, wornOptions(w.d))
		closed(t, j)
		if !bytes.Equal(w.aside(w.d), before) {
			t.Errorf("operation %d: it isn't aside", n)
		}
		if ops < n {
			break
		}
	}
	if steps < 3 {
		t.Errorf("only %d operations failed", steps)
	}
}

// TestADamagedSegmentTakesNoRoom: it is set aside on a disk without a free byte.
func TestADamagedSegmentTakesNoRoom(t *testing.T) {
	w := newWorn(t)
	j, _ := open(t, wornOptions(w.d))
	w.flip(t, w.older, w.frames["a2"].Offset+100)
	if err := j.GiveUp(j.Chunks()[2].Seq); err != nil {
		t.Fatal(err)
	}
	w.d.SetCapacity(w.d.Used())
	w.finish(t, j, "a")
	if w.aside(w.d) == nil {
		t.Error("it isn't aside")
	}
}

// TestAChunkThatIsReadTwiceCountsOnce: a void frame and the one of its
// redelivery are both there, and only the snapshot between them knew better.
func TestAChunkThatIsReadTwiceCountsOnce(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	accept(t, j, Origin{}, "before")
	fail := &on{match: func(op crashdisk.Op) bool { return op.Kind == crashdisk.Sync },
		fault: faults.After(syscall.EIO), times: 1}
	d.SetHook(fail.hook)
	o := file("n", "twice")
	if _, err := j.AppendChunk(context.Background(), "tag", arrival, o, []byte("twice"), nil); !errors.Is(err, syscall.EIO) {
		t.Fatalf("error %v", err)
	}
	accept(t, j, o, "twice")
	closed(t, j)
	if err := d.Damage(segmentsOf(d)[1], func(b []byte) []byte { b[log.HeaderSize+log.FrameHeaderSize] ^= 1; return b }); err != nil {
		t.Fatal(err)
	}
	j, r := open(t, options(d))
	if n := len(j.Chunks()); n != 2 || len(r.Damage) == 0 {
		t.Errorf("%d chunks, damage %v", n, r.Damage)
	}
}
