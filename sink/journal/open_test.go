package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// contents are all files of a disk.
func contents(d *crashdisk.Disk) string {
	var b strings.Builder
	for _, name := range d.Names() {
		fmt.Fprintln(&b, name, CRC(d.Content(name)))
	}
	return b.String()
}

func TestANewState(t *testing.T) {
	d := crashdisk.New()
	o := options(d)
	o.DefaultWriterID = func(state [16]byte) string { return "host-" + hex.EncodeToString(state[:4]) }
	j, r := open(t, o)
	if !r.New || r.Chunks != 0 || len(r.Damage) > 0 {
		t.Errorf("%+v", r)
	}
	id := j.WriterID()
	if len(id) != len("host-00000000") || id == "host-00000000" {
		t.Errorf("writer id %q", id)
	}
	j, d = restart(t, j, d, crashdisk.None)
	if j.WriterID() != id {
		t.Errorf("writer id %q became %q", id, j.WriterID())
	}
	closed(t, j)
	o = options(d)
	o.WriterID = "given"
	j, r = open(t, o)
	if r.New || j.WriterID() != "given" {
		t.Errorf("writer id %q, %+v", j.WriterID(), r)
	}
	j, _ = restart(t, j, d, crashdisk.None)
	if j.WriterID() != "given" {
		t.Errorf("the given writer id became %q", j.WriterID())
	}
}

// TestPartNumbersOnlyGrow over crashes, as far as they were published.
func TestPartNumbersOnlyGrow(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	if n := j.NextPart(); n != 1 {
		t.Errorf("the first part is %d", n)
	}
	for range 2 {
		if n := j.NextNumber(); n != 2 {
			t.Errorf("the next part is %d", n)
		}
	}
	if n := j.NextPart(); n != 2 {
		t.Errorf("looking at a number took it: %d comes next", n)
	}
	appended(t, j, Rolled{Part: Part{Number: 7}})
	j, d = restart(t, j, d, crashdisk.None)
	if n := j.NextPart(); n != 8 {
		t.Errorf("after a rolled part 7 comes %d", n)
	}
	appended(t, j, Renaming{7, "/x", 20})
	j, _ = restart(t, j, d, crashdisk.None)
	if n := j.NextPart(); n != 20 {
		t.Errorf("after a renaming comes %d", n)
	}
}

func TestAMovedDirectory(t *testing.T) {
	made := disk.Identity{Inode: 10, Birth: time.Unix(100, 5)}
	for name, row := range map[string]struct {
		is    disk.Identity
		moved bool
	}{
		"the same":           {made, false},
		"another inode":      {disk.Identity{Inode: 11, Birth: made.Birth}, true},
		"an inode used anew": {disk.Identity{Inode: 10, Birth: made.Birth.Add(1)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := crashdisk.New()
			d.SetIdentity(made)
			j, _ := open(t, options(d))
			accept(t, j, Origin{}, "x")
			appended(t, j, Decoding{[]uint64{1}})
			closed(t, j)
			d.SetIdentity(row.is)
			before := contents(d)
			j, _, err := Open(options(d))
			var moved *MovedError
			if errors.As(err, &moved) != row.moved {
				t.Fatalf("error %v", err)
			}
			if !row.moved {
				closed(t, j)
				return
			}
			if moved.Is != row.is || moved.Was.Inode != made.Inode || !moved.Was.Birth.Equal(made.Birth) {
				t.Errorf("%+v", moved)
			}
			if contents(d) != before {
				t.Error("the directory was changed")
			}
			if look, _, err := Inspect(options(d)); err != nil || len(look.Chunks()) != 1 {
				t.Errorf("it can't be looked at: %v", err)
			}
			o := options(d)
			o.Adopt, o.Tool = true, true
			j, _ = open(t, o)
			closed(t, j)
			j, _ = open(t, options(d)) // its own from now on
			if n := len(j.Chunks()); n != 1 {
				t.Errorf("%d chunks", n)
			}
		})
	}
}

// TestAMovedDirectoryIsntTouched also if something in it is damaged.
func TestAMovedDirectoryIsntTouched(t *testing.T) {
	w := newWorn(t)
	w.flip(t, w.newer, w.frames["b3"].Offset+100)
	w.d.SetIdentity(disk.Identity{Inode: 99})
	before := contents(w.d)
	var moved *MovedError
	if _, _, err := Open(wornOptions(w.d)); !errors.As(err, &moved) {
		t.Fatalf("error %v", err)
	}
	if contents(w.d) != before {
		t.Error("the directory was changed")
	}
}

// TestACopiedDirectory does it with real directories.
func TestACopiedDirectory(t *testing.T) {
	parent := t.TempDir()
	original, copied := filepath.Join(parent, "a"), filepath.Join(parent, "b")
	if err := os.Mkdir(original, 0o700); err != nil {
		t.Fatal(err)
	}
	osOptions := func(dir string) Options {
		d, err := disk.NewOS(dir)
		if err != nil {
			t.Fatal(err)
		}
		o := options(nil)
		o.Disk = d
		return o
	}
	j, _ := open(t, osOptions(original))
	accept(t, j, Origin{}, "x")
	closed(t, j)
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	var moved *MovedError
	if _, _, err := Open(osOptions(copied)); !errors.As(err, &moved) {
		t.Errorf("error %v", err)
	}
	j, r := open(t, osOptions(original))
	if len(r.Damage) > 0 || data(t, j, 1) != "x" {
		t.Errorf("%+v", r)
	}
}

func TestALockedDirectory(t *testing.T) {
	d := crashdisk.New()
	o := options(d)
	o.Owner = "hdfs.0, pid 1"
	j, _ := open(t, o)
	o.Owner = "hdfs.1, pid 1"
	var locked *disk.LockedError
	if _, _, err := Open(o); !errors.As(err, &locked) || locked.Owner != "hdfs.0, pid 1" || locked.By != "hdfs.1, pid 1" {
		t.Errorf("error %v", err)
	}
	closed(t, j)
	j, _ = open(t, o)
	closed(t, j)
}

// TestInspect: a look writes nothing, and sees what was answered.
func TestInspect(t *testing.T) {
	d := crashdisk.New()
	if _, _, err := Inspect(options(d)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is inspected with error %v", err)
	}
	j, _ := open(t, options(d))
	r := newRun(j)
	r.script()
	for name, d := range map[string]*crashdisk.Disk{"while it is written": d, "after a crash": d.Crash(crashdisk.Killed, 0)} {
		t.Run(name, func(t *testing.T) {
			before := contents(d)
			d.SetHook(func(op crashdisk.Op) faults.Action {
				if op.Kind != crashdisk.Open && op.Kind != crashdisk.Read && op.Kind != crashdisk.List {
					t.Errorf("a look does %v", op)
				}
				return faults.Pass()
			})
			defer d.SetHook(nil)
			look, report, err := Inspect(options(d))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := describe(look), r.m.describe(); got != want {
				t.Errorf("seen\n%s\nand not\n%s", got, want)
			}
			if report.Chunks != len(r.m.chunks) || report.Parts != len(r.m.parts) || report.Bytes == 0 {
				t.Errorf("%+v", report)
			}
			if err := look.Append(Void{1}); !errors.Is(err, ErrClosed) {
				t.Errorf("appended with %v", err)
			}
			if err := look.Close(); err != nil {
				t.Error(err)
			}
			if _, err := look.Read(r.seqs["slow"], nil); err != nil {
				t.Error(err)
			}
			if contents(d) != before {
				t.Error("a look changed the directory")
			}
		})
	}
	closed(t, j)
}

// TestInspectDamage: a look tells of damage and keeps no copy.
func TestInspectDamage(t *testing.T) {
	w := newWorn(t)
	w.flip(t, w.newer, w.frames["b3"].Offset+100)
	before := contents(w.d)
	_, r, err := Inspect(wornOptions(w.d))
	if err != nil || len(r.Damage) != 1 || r.Chunks != 19 {
		t.Errorf("%+v: %v", r, err)
	}
	if contents(w.d) != before {
		t.Error("a look changed the directory")
	}
	if w.d.Handles() != 0 {
		t.Errorf("%d files are open", w.d.Handles())
	}
}

// TestANewerVersion: a header that only a later release can read is no damage.
func TestANewerVersion(t *testing.T) {
	newer := func(size int) []byte {
		b := make([]byte, size)
		copy(b, log.Magic)
		binary.LittleEndian.PutUint32(b[8:], log.Version+1)
		binary.LittleEndian.PutUint32(b[12:], uint32(size))
		binary.LittleEndian.PutUint32(b[size-4:], CRC(b[:size-4]))
		return b
	}
	for name, row := range map[string]struct {
		segment func(w *worn) string
		size    int
	}{
		"of the newest segment":       {func(w *worn) string { return w.newer }, log.HeaderSize},
		"of an older segment":         {func(w *worn) string { return w.older }, log.HeaderSize},
		"with a longer header":        {func(w *worn) string { return w.newer }, 200},
		"with the longest header":     {func(w *worn) string { return w.newer }, log.MaxHeader},
		"of a segment of a newer one": {func(*worn) string { return log.SegmentName(77) }, log.HeaderSize},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorn(t)
			segment := row.segment(w)
			if w.d.Content(segment) == nil {
				w.put(t, strings.TrimPrefix(segment, Dir+"/"), strings.Repeat("x", 8<<10))
			}
			w.change(t, segment, func(b []byte) []byte { copy(b, newer(row.size)); return b })
			before := contents(w.d)
			for what, open := range map[string]func(Options) (*Journal, *Report, error){"Open": Open, "Inspect": Inspect} {
				var v *VersionError
				if _, _, err := open(wornOptions(w.d)); !errors.As(err, &v) || v.Found != log.Version+1 {
					t.Errorf("%s: error %v", what, err)
				}
			}
			if contents(w.d) != before || w.d.Handles() != 0 {
				t.Error("the directory was changed, or is kept open")
			}
			if lock, err := w.d.Lock("next"); err != nil {
				t.Error(err)
			} else {
				_ = lock.Close()
			}
		})
	}
}

func TestLogReport(t *testing.T) {
	var out bytes.Buffer
	LogReport(slog.New(slog.NewTextHandler(&out, nil)), &Report{Damage: []string{"one", "two"}, Chunks: 3, Bytes: 4, Parts: 5})
	for _, want := range []string{"what=one", "what=two", "chunks=3", "pending_parts=5", log.DamagedDir} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q isn't in %s", want, out.String())
		}
	}
	out.Reset()
	LogReport(slog.New(slog.NewTextHandler(&out, nil)), &Report{New: true})
	if out.Len() > 0 {
		t.Errorf("a new state says %s", out.String())
	}
}

// TestErrorsSayWhatToDo: an operator reads them.
func TestErrorsSayWhatToDo(t *testing.T) {
	for _, row := range []struct {
		err  error
		says []string
	}{
		{&MovedError{Was: disk.Identity{Inode: 1}, Is: disk.Identity{Inode: 2}}, []string{"out-hdfs adopt", "inode 1", "inode 2"}},
		{&VersionError{Found: 9}, []string{"9", "out-hdfs drain"}},
		{&DamageError{Segment: 3, Offset: 64, Err: errPayload}, []string{log.SegmentName(3), "64"}},
		{ErrNoSpare, []string{"room"}},
		{ErrBroken, []string{"restart", "report"}},
	} {
		for _, want := range row.says {
			if !strings.Contains(row.err.Error(), want) {
				t.Errorf("%q doesn't say %q", row.err, want)
			}
		}
	}
}
