package log

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	segmentSize = 4 << 10
	snapshot    = Kind(1)
	note        = Kind(7)
)

var state = [16]byte{9}

// begun is a log on the disk, with what it held before and a segment of its own.
func begun(t testing.TB, d *crashdisk.Disk) (l *Log, before []string) {
	t.Helper()
	l = New(Options{Disk: d, Log: slog.New(slog.DiscardHandler), SegmentSize: segmentSize, KindName: func(k Kind) string { return fmt.Sprint(k) }})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.MakeDir())
	segments, spares, err := l.List()
	must(err)
	if len(segments) > 0 {
		before = content(t, l, segments[len(segments)-1])
	}
	l.AdoptSpares(spares, segments)
	must(l.Begin(state, &Entry{Kind: snapshot, Parts: [][]byte{[]byte(strings.Join(before, "\n"))}}, 0))
	l.Retire(l.Old(), false)
	l.Start()
	t.Cleanup(func() { _ = l.Close() })
	return l, before
}

// content is what a segment tells: its snapshot's lines and its notes. What isn't
// known to be durable is made so.
func content(t testing.TB, l *Log, f Found) (lines []string) {
	t.Helper()
	if f.Bad != nil || f.Cut || f.State != state {
		t.Fatalf("segment %d: %+v", f.ID, f)
	}
	r, err := l.Replay(f.ID, 0, func(f Frame) {
		switch {
		case f.Kind == note:
			lines = append(lines, string(f.Payload))
		case len(f.Payload) > 0:
			lines = append(lines, strings.Split(string(f.Payload), "\n")...)
		}
	})
	if err == nil {
		err = l.MakeDurable(Tail{f.ID, r.Durable, r.End})
	}
	if err != nil || len(r.Bad) > 0 {
		t.Fatalf("segment %d: %v, %v", f.ID, err, r.Bad)
	}
	return lines
}

// add appends a note, in a new segment if there is no room, and reports whether
// it is durable.
func add(l *Log, all []string, text string) error {
	e := &Entry{Kind: note, Parts: [][]byte{[]byte(text[:1]), []byte(text[1:])}}
	if l.Room() < FrameSize(e.Len()) {
		if err := l.Begin(state, &Entry{Kind: snapshot, Parts: [][]byte{[]byte(strings.Join(all, "\n"))}}, FrameSize(e.Len())); err != nil {
			return err
		}
		l.Retire(l.Old(), true)
	}
	return l.Append([]*Entry{e})
}

// TestWhatWasAppendedIsFound after any crash: all that was answered with nil, in
// its order; of what failed since, any number from the first; and nothing else,
// though files are used again and again.
func TestWhatWasAppendedIsFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := crashdisk.New()
		l, _ := begun(t, d)
		var durable, unsure []string
		for i := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			text := fmt.Sprintf("n%d %s", i, strings.Repeat("x", rapid.IntRange(0, 700).Draw(rt, "size")))
			fail := rapid.IntRange(0, 9).Draw(rt, "fail")
			if fail == 0 {
				kind := rapid.SampledFrom([]crashdisk.Kind{crashdisk.Write, crashdisk.Sync, crashdisk.Rename, crashdisk.SyncDir}).Draw(rt, "kind")
				d.SetHook(func(op crashdisk.Op) faults.Action {
					if op.Kind == kind {
						return faults.Before(syscall.EIO)
					}
					return faults.Pass()
				})
			}
			if add(l, durable, text) == nil {
				durable, unsure = append(durable, text), nil
			} else {
				unsure = append(unsure, text)
			}
			d.SetHook(nil)
			if rapid.IntRange(0, 7).Draw(rt, "crash") > 0 {
				continue
			}
			keep := rapid.SampledFrom([]crashdisk.Keep{crashdisk.None, crashdisk.Some, crashdisk.All, crashdisk.Killed}).Draw(rt, "keep")
			crashed := d.Crash(keep, rapid.Uint64().Draw(rt, "seed"))
			_ = l.Close()
			var found []string
			l, found = begun(t, crashed)
			d = crashed
			if len(found) < len(durable) || strings.Join(found[:len(durable)], "|") != strings.Join(durable, "|") {
				rt.Fatalf("found %d notes of %d", len(found), len(durable))
			}
			// Those that failed are in segments that ended with them: what is left of
			// a later one has nothing of those before.
			for _, extra := range found[len(durable):] {
				at := slices.Index(unsure, extra)
				if at < 0 {
					rt.Fatalf("%.20q is found and wasn't appended behind what is before it", extra)
				}
				unsure = unsure[at+1:]
			}
			durable, unsure = found, nil
		}
		_ = l.Close()
	})
}

// TestAFailedAppendEndsTheSegment: nothing follows it there.
func TestAFailedAppendEndsTheSegment(t *testing.T) {
	d := crashdisk.New()
	l, _ := begun(t, d)
	if err := add(l, nil, "one"); err != nil {
		t.Fatal(err)
	}
	d.SetHook(func(op crashdisk.Op) faults.Action {
		if op.Kind == crashdisk.Sync {
			return faults.After(syscall.EIO)
		}
		return faults.Pass()
	})
	first := l.Append([]*Entry{{Kind: note, Parts: [][]byte{[]byte("two")}}})
	d.SetHook(nil)
	second := l.Append([]*Entry{{Kind: note, Parts: [][]byte{[]byte("three")}}})
	if !errors.Is(first, syscall.EIO) || !errors.Is(second, syscall.EIO) || !l.Ended() || l.Room() != 0 {
		t.Errorf("%v, %v, ended %v, room %d", first, second, l.Ended(), l.Room())
	}
	if err := add(l, []string{"one"}, "four"); err != nil || l.Ended() {
		t.Errorf("the next segment: %v", err)
	}
}

// TestAFrameIsReadWhereItLies, and a byte that changed is damage.
func TestAFrameIsReadWhereItLies(t *testing.T) {
	d := crashdisk.New()
	l, _ := begun(t, d)
	e := &Entry{Kind: note, Parts: [][]byte{[]byte("some "), []byte("words")}}
	if err := l.Append([]*Entry{{Kind: note}, e}); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Read(e.At, nil); err != nil || string(got) != "some words" {
		t.Errorf("read %q, %v", got, err)
	}
	other := e.At
	other.Offset += 8
	name := SegmentName(e.At.Segment)
	if err := d.Damage(name, func(b []byte) []byte { b[e.At.Offset+FrameHeaderSize] ^= 1; return b }); err != nil {
		t.Fatal(err)
	}
	missing := Location{Segment: 99, Offset: HeaderSize, Length: 1}
	for what, at := range map[string]Location{"a flipped bit": e.At, "another place": other, "a missing segment": missing} {
		var damage *DamageError
		if _, err := l.Read(at, nil); !errors.As(err, &damage) {
			t.Errorf("%s: %v", what, err)
		}
	}
	was := d.Content(name)
	for range 2 { // once more is no error
		if err := l.SetAside(e.At.Segment); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(d.Content(strings.Replace(name, Dir, DamagedDir, 1)), was) || d.Content(name) != nil || l.Has(e.At.Segment) {
		t.Error("it isn't set aside as it was")
	}
}

// TestASpareTooManyIsRemoved: dead segments may have become spares while one
// was being made.
func TestASpareTooManyIsRemoved(t *testing.T) {
	d := crashdisk.New()
	l, _ := begun(t, d)
	if err := l.AwaitSpare(); err != nil {
		t.Fatal(err)
	}
	for range MaxSpares + 2 {
		l.prepared(l.makeSpare(segmentSize))
	}
	there := 0
	for _, name := range d.Names() {
		if strings.HasPrefix(name, Dir+"/"+SparePrefix) {
			there++
		}
	}
	if there != MaxSpares || len(l.spares) != MaxSpares {
		t.Errorf("%d spares are there, %d are known", there, len(l.spares))
	}
}
