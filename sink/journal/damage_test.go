package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// worn is a closed journal of two segments with ten live chunks in each.
type worn struct {
	d *crashdisk.Disk
	// frames are the chunks' frames by label, a0 to a9 in the older segment and
	// b0 to b9 in the newer one.
	frames       map[string]log.Location
	older, newer string // the segments' files
	end          int64  // of the newer one's frames
}

func wornOptions(d *crashdisk.Disk) Options {
	o := options(d)
	o.SegmentSize = 32 << 10
	return o
}

func newWorn(t *testing.T) *worn {
	w := &worn{d: crashdisk.New(), frames: map[string]log.Location{}}
	for _, group := range []string{"a", "b"} {
		j, _ := open(t, wornOptions(w.d))
		for i := range 10 {
			label := fmt.Sprint(group, i)
			body := wornBody(label)
			seq := accept(t, j, file(label, body), body)
			loc := j.st.chunks[seq].loc
			w.frames[label] = loc
		}
		// Each frame says how far the segment was synced before it.
		appended(t, j, Decoding{})
		w.end = j.log.Synced()
		closed(t, j)
	}
	names := segmentsOf(w.d)
	w.older, w.newer = names[0], names[1]
	return w
}

// end is where a frame ends.
func end(l log.Location) int64 { return l.Offset + l.Size() }

func wornBody(label string) string { return label + strings.Repeat(label[1:], 900) }

// change damages a file from the offset on.
func (w *worn) change(t *testing.T, name string, do func(content []byte) []byte) {
	t.Helper()
	if err := w.d.Damage(name, do); err != nil {
		t.Fatal(err)
	}
}

func (w *worn) flip(t *testing.T, name string, offset int64) {
	w.change(t, name, func(b []byte) []byte { b[offset] ^= 0x10; return b })
}

func (w *worn) zero(t *testing.T, name string, offset, n int64) {
	w.change(t, name, func(b []byte) []byte { clear(b[offset : offset+n]); return b })
}

const (
	silent = iota
	loud
)

// TestDamage has a row for each thing that may happen to a disk: what is lost
// by it, and whether Open says so. Everything else survives.
func TestDamage(t *testing.T) {
	flipFrame := func(at int64) func(*testing.T, *worn) {
		return func(t *testing.T, w *worn) { w.flip(t, w.newer, w.frames["b3"].Offset+at) }
	}
	breakHeader := func(t *testing.T, w *worn, name string, first, second bool) {
		if first {
			w.flip(t, name, 17)
		}
		if second {
			w.flip(t, name, int64(len(w.d.Content(name)))-20)
		}
	}
	breakSnapshot := func(t *testing.T, w *worn, name string) { w.flip(t, name, log.HeaderSize+log.FrameHeaderSize+5) }
	rows := map[string]struct {
		damage func(t *testing.T, w *worn)
		lost   string // the labels, separated by blanks
		says   int
	}{
		"nothing":                    {func(*testing.T, *worn) {}, "", silent},
		"bit flip in a length":       {flipFrame(1), "b3", loud},
		"bit flip in a kind":         {flipFrame(4), "b3", loud},
		"bit flip in a header's pad": {flipFrame(6), "b3", loud},
		"bit flip in a synced":       {flipFrame(9), "b3", loud},
		"bit flip in a body sum":     {flipFrame(17), "b3", loud},
		"bit flip in a head sum":     {flipFrame(21), "b3", loud},
		"bit flip in a payload":      {flipFrame(300), "b3", loud},
		"several frames": {func(t *testing.T, w *worn) {
			for _, label := range []string{"b1", "b2", "b5", "b9"} {
				w.flip(t, w.newer, w.frames[label].Offset+100)
			}
		}, "b1 b2 b5 b9", loud},
		"all frames": {func(t *testing.T, w *worn) {
			for i := range 10 {
				w.flip(t, w.newer, w.frames[fmt.Sprint("b", i)].Offset+2)
			}
		}, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9", loud},
		"a zeroed sector": {func(t *testing.T, w *worn) {
			w.zero(t, w.newer, w.frames["b3"].Offset-10, 512)
		}, "b2 b3", loud},
		"a zeroed page": {func(t *testing.T, w *worn) {
			w.zero(t, w.newer, w.frames["b3"].Offset+10, 2000)
		}, "b3 b4 b5", loud},
		"the last frame": {func(t *testing.T, w *worn) { w.flip(t, w.newer, w.end-8) }, "", silent},
		"the last frame's payload and the one before": {func(t *testing.T, w *worn) {
			w.flip(t, w.newer, w.end-8) // its header still says what was synced
			w.flip(t, w.newer, w.frames["b9"].Offset+50)
		}, "b9", loud},
		"the last two frames": {func(t *testing.T, w *worn) {
			w.flip(t, w.newer, w.end-30)
			w.flip(t, w.newer, w.frames["b9"].Offset+50)
		}, "b9", silent},
		"a frame from another offset": {func(t *testing.T, w *worn) {
			w.change(t, w.newer, func(b []byte) []byte {
				from, to := w.frames["b7"], w.frames["b3"]
				copy(b[to.Offset:to.Offset+to.Size()], b[from.Offset:])
				return b
			})
		}, "b3", loud},
		"a frame from another segment": {func(t *testing.T, w *worn) {
			other := w.d.Content(w.older)
			w.change(t, w.newer, func(b []byte) []byte {
				to := w.frames["b3"]
				copy(b[to.Offset:to.Offset+to.Size()], other[w.frames["a3"].Offset:])
				return b
			})
		}, "b3", loud},
		"stale frames behind the end": {func(t *testing.T, w *worn) {
			other := w.d.Content(w.older)
			w.change(t, w.newer, func(b []byte) []byte {
				copy(b[w.end:len(b)-log.HeaderSize], other[w.frames["a1"].Offset:])
				return b
			})
		}, "", silent},
		"what looks like a frame behind the end": {func(t *testing.T, w *worn) {
			w.forge(t, 0)
		}, "", silent},
		"cut in the middle of a frame": {func(t *testing.T, w *worn) {
			w.change(t, w.newer, func(b []byte) []byte { return b[:w.frames["b8"].Offset+100] })
		}, "b8 b9", loud},
		"cut behind the frames": {func(t *testing.T, w *worn) {
			w.change(t, w.newer, func(b []byte) []byte { return b[:w.end+100] })
		}, "", loud},
		"cut to nothing": {func(t *testing.T, w *worn) {
			w.change(t, w.newer, func([]byte) []byte { return nil })
		}, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9", loud},
		"the header": {func(t *testing.T, w *worn) { breakHeader(t, w, w.newer, true, false) }, "", loud},
		"the header's copy": {func(t *testing.T, w *worn) {
			breakHeader(t, w, w.newer, false, true)
		}, "", loud},
		"the header and its copy": {func(t *testing.T, w *worn) {
			breakHeader(t, w, w.newer, true, true)
		}, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9", loud},
		"the header and its copy of an older segment": {func(t *testing.T, w *worn) {
			breakHeader(t, w, w.older, true, true)
		}, "", silent}, // the snapshot knows the salt
		"the snapshot": {func(t *testing.T, w *worn) { breakSnapshot(t, w, w.newer) }, "", loud},
		"both snapshots": {func(t *testing.T, w *worn) {
			breakSnapshot(t, w, w.newer)
			breakSnapshot(t, w, w.older)
		}, "", loud},
		"the first sector, header and snapshot": {func(t *testing.T, w *worn) {
			w.zero(t, w.newer, 0, 512)
		}, "", loud},
		"the older segment is missing": {func(t *testing.T, w *worn) {
			if err := w.d.Remove(w.older); err != nil {
				t.Fatal(err)
			}
		}, "a0 a1 a2 a3 a4 a5 a6 a7 a8 a9", loud},
		"the older segment is cut short": {func(t *testing.T, w *worn) {
			w.change(t, w.older, func(b []byte) []byte { return b[:w.frames["a6"].Offset+100] })
		}, "a6 a7 a8 a9", loud},
		"the newer segment is missing": {func(t *testing.T, w *worn) {
			if err := w.d.Remove(w.newer); err != nil {
				t.Fatal(err)
			}
		}, "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9", silent}, // nobody can know
		"files of others": {func(t *testing.T, w *worn) {
			w.put(t, "notes.txt", "hello")
			w.put(t, "ffffffffffffffff", "hello")
			w.put(t, "000000000000002", "hello")
			w.put(t, "00000000000000AB", "hello")
		}, "", silent},
		"garbage in the name of a segment": {func(t *testing.T, w *worn) {
			w.put(t, "00000000000000ff", "hello")
		}, "", loud},
		"an empty file in the name of a segment": {func(t *testing.T, w *worn) {
			w.put(t, "00000000000000ff", "")
		}, "", loud},
		"garbage in the name of a spare": {func(t *testing.T, w *worn) {
			w.put(t, "spare-77", "hello")
			w.put(t, "spare-", strings.Repeat("x", 32<<10))
		}, "", silent},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			w := newWorn(t)
			row.damage(t, w)
			w.survives(t, strings.Fields(row.lost), row.says == loud)
		})
	}
}

func (w *worn) put(t *testing.T, name, content string) {
	t.Helper()
	f, err := w.d.Create(Dir + "/" + name)
	if err == nil {
		_, err = f.WriteAt([]byte(content), 0)
	}
	if err = errors.Join(err, f.Sync(), f.Close(), w.d.SyncDir(Dir)); err != nil {
		t.Fatal(err)
	}
}

// forge puts a frame behind the newer segment's end that is right but for the
// salt, as a log line could contain one.
func (w *worn) forge(t *testing.T, salt uint64) {
	payload := Void{1}.encode(nil)
	h, err := log.DecodeHeader(w.d.Content(w.newer))
	if err != nil {
		t.Fatal(err)
	}
	var head [log.FrameHeaderSize]byte
	log.PutFrameHeader(&head, log.Place{Salt: salt, Segment: h.Segment, Offset: w.end}, 64, log.Kind(KindVoid), [][]byte{payload})
	w.change(t, w.newer, func(b []byte) []byte {
		copy(b[w.end:], head[:])
		copy(b[w.end+log.FrameHeaderSize:], payload)
		return b
	})
}

// TestAForgedFrameNeedsTheSalt says that the row of TestDamage above could
// fail.
func TestAForgedFrameNeedsTheSalt(t *testing.T) {
	w := newWorn(t)
	h, err := log.DecodeHeader(w.d.Content(w.newer))
	if err != nil {
		t.Fatal(err)
	}
	w.forge(t, h.Salt)
	if j, _ := open(t, wornOptions(w.d)); len(j.Chunks()) != 19 {
		t.Errorf("%d chunks", len(j.Chunks()))
	}
}

// survives opens the journal and checks that all chunks but the lost are
// there, that those and only those may be delivered again, and that the damage
// is told of once and kept.
func (w *worn) survives(t *testing.T, lost []string, loudly bool) {
	t.Helper()
	for round := range 2 {
		j, r, err := Open(wornOptions(w.d))
		if err != nil {
			t.Fatal(err)
		}
		if loudly != (len(r.Damage) > 0) && round == 0 || round == 1 && len(r.Damage) > 0 {
			t.Errorf("start %d reports %q", round, r.Damage)
		}
		got := map[string]bool{}
		for _, c := range j.Chunks() {
			p, err := j.Read(c.Seq, nil)
			if err != nil {
				t.Fatal(err)
			}
			label := string(p.Data[:2])
			if string(p.Data) != wornBody(label) || got[label] || p.Tag != "tag" || !p.Arrival.Equal(arrival) {
				t.Errorf("%s is there again, or not as it was", label)
			}
			got[label] = true
		}
		for label := range w.frames {
			if got[label] == slices.Contains(lost, label) {
				t.Errorf("start %d: %s is there: %v", round, label, got[label])
			}
		}
		if round == 0 {
			w.delivered(t, j, lost)
		}
		closed(t, j)
		lost = nil
	}
	if w.d.Handles() != 0 {
		t.Errorf("%d files are open", w.d.Handles())
	}
}

// delivered has Fluent Bit deliver every chunk again.
func (w *worn) delivered(t *testing.T, j *Journal, lost []string) {
	t.Helper()
	for _, label := range slices.Sorted(maps.Keys(w.frames)) {
		body := wornBody(label)
		a, err := j.AppendChunk(context.Background(), "tag", arrival, file(label, body), []byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		if isLost := slices.Contains(lost, label); a.Known == isLost && label != "a0" {
			t.Errorf("delivered again, %s is known: %v", label, a.Known)
		}
	}
}
