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
	aside := w.d.Content(strings.Replace(w.older, Dir, log.DamagedDir, 1))
	if !bytes.Equal(aside, before) {
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

// TestSetAside fails what keeping a copy needs: what is there of it in the end
// is whole.
func TestSetAside(t *testing.T) {
	for n := range 10 {
		w := newWorn(t)
		j, _ := open(t, wornOptions(w.d))
		seq := j.Chunks()[2].Seq
		w.flip(t, w.older, w.frames["a2"].Offset+100)
		ops := 0
		w.d.SetHook(func(op crashdisk.Op) faults.Action {
			if strings.HasPrefix(op.Name, log.DamagedDir) {
				if ops++; ops == n {
					return faults.Half(0, syscall.ENOSPC)
				}
			}
			return faults.Pass()
		})
		if err := j.GiveUp(seq); err != nil {
			if _, ok := j.Chunk(seq); !ok {
				t.Fatal("given up without a copy")
			}
			if err := j.GiveUp(seq); err != nil {
				t.Fatal(err)
			}
		}
		crashed := w.d.Crash(crashdisk.None, 0)
		if got := crashed.Content(strings.Replace(w.older, Dir, log.DamagedDir, 1)); !bytes.Equal(got, w.d.Content(w.older)) {
			t.Errorf("operation %d: the copy has %d bytes", n, len(got))
		}
		closed(t, j)
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
