package crashdisk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/disktest"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

func TestConformance(t *testing.T) {
	disktest.Run(t, disktest.Harness{
		New:    func(*testing.T) disk.Disk { return New() },
		Reopen: func(_ *testing.T, d disk.Disk) disk.Disk { return d },
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, d *Disk, name, content string) disk.File {
	t.Helper()
	f, err := d.Create(name)
	must(t, err)
	_, err = f.WriteAt([]byte(content), 0)
	must(t, err)
	return f
}

// durable makes a file with a name that survives.
func durable(t *testing.T, d *Disk, name, content string) disk.File {
	t.Helper()
	f := create(t, d, name, content)
	must(t, f.Sync())
	must(t, d.SyncDir("."))
	return f
}

// pages is n pages, each filled with a letter of its own.
func pages(letters string) string {
	var b strings.Builder
	for _, l := range letters {
		b.WriteString(strings.Repeat(string(l), PageSize))
	}
	return b.String()
}

// TestCrash has a row for each thing that may be lost. A row prepares a disk
// and says what each kind of crash leaves of file a; "-" is no file.
func TestCrash(t *testing.T) {
	for name, row := range map[string]struct {
		prepare   func(t *testing.T, d *Disk)
		none, all string
	}{
		"synced": {func(t *testing.T, d *Disk) { durable(t, d, "a", "x") }, "x", "x"},
		"a name that wasn't synced": {func(t *testing.T, d *Disk) {
			must(t, create(t, d, "a", "x").Sync())
		}, "-", "x"},
		"content that wasn't synced": {func(t *testing.T, d *Disk) {
			create(t, d, "a", "x")
			must(t, d.SyncDir("."))
		}, "", "x"},
		"content changed after the sync": {func(t *testing.T, d *Disk) {
			f := durable(t, d, "a", "x")
			_, err := f.WriteAt([]byte("yz"), 0)
			must(t, err)
		}, "x", "yz"},
		"allocated after the sync": {func(t *testing.T, d *Disk) {
			must(t, durable(t, d, "a", "x").Allocate(3))
		}, "x", "x\x00\x00"},
		"shortened after the sync": {func(t *testing.T, d *Disk) {
			must(t, durable(t, d, "a", "xyz").Truncate(1))
		}, "xyz", "x"},
		"removed": {func(t *testing.T, d *Disk) {
			durable(t, d, "a", "x")
			must(t, d.Remove("a"))
		}, "x", "-"},
		"removed and the directory synced": {func(t *testing.T, d *Disk) {
			durable(t, d, "a", "x")
			must(t, d.Remove("a"))
			must(t, d.SyncDir("."))
		}, "-", "-"},
		"renamed away": {func(t *testing.T, d *Disk) {
			durable(t, d, "a", "x")
			must(t, d.Rename("a", "b"))
		}, "x", "-"},
		"replaced": {func(t *testing.T, d *Disk) {
			durable(t, d, "a", "old")
			durable(t, d, "b", "new")
			must(t, d.Rename("b", "a"))
		}, "old", "new"},
		"written under another name": {func(t *testing.T, d *Disk) {
			f := durable(t, d, "b", "x")
			must(t, d.Rename("b", "a"))
			_, err := f.WriteAt([]byte("y"), 0)
			must(t, err)
			must(t, errors.Join(f.Sync(), d.SyncDir(".")))
		}, "y", "y"},
	} {
		t.Run(name, func(t *testing.T) {
			d := New()
			row.prepare(t, d)
			before := state(d)
			for _, c := range []struct {
				keep Keep
				want string
			}{{None, row.none}, {All, row.all}, {Killed, row.all}} {
				crashed := d.Crash(c.keep, 1)
				if got := contentOf(crashed); got != c.want {
					t.Errorf("keep %d leaves %q, not %q", c.keep, got, c.want)
				}
			}
			// What is killed first and loses power then has lost the same.
			if got := contentOf(d.Crash(Killed, 1).Crash(None, 1)); got != row.none {
				t.Errorf("killed and without power it leaves %q, not %q", got, row.none)
			}
			seen := map[string]bool{}
			for seed := range uint64(64) {
				seen[contentOf(d.Crash(Some, seed))] = true
			}
			if !seen[row.none] || !seen[row.all] {
				t.Errorf("some crashes leave %v", seen)
			}
			if state(d) != before {
				t.Error("a crash changed the disk itself")
			}
		})
	}
}

func contentOf(d *Disk) string {
	if !slices.Contains(d.Names(), "a") {
		return "-"
	}
	return string(d.Content("a"))
}

func state(d *Disk) string {
	var b bytes.Buffer
	for _, name := range d.Names() {
		fmt.Fprintf(&b, "%s %q\n", name, d.Content(name))
	}
	fmt.Fprint(&b, d.used, d.handles)
	return b.String()
}

func TestSomeCrashKeepsPagesOneByOne(t *testing.T) {
	d := New()
	f := durable(t, d, "a", pages("aaaa"))
	_, err := f.WriteAt([]byte(pages("bcde")), 0)
	must(t, err)
	seen := map[string]bool{}
	for seed := range uint64(400) {
		got := d.Crash(Some, seed).Content("a")
		var letters []byte
		for p := range 4 {
			page := got[p*PageSize : (p+1)*PageSize]
			if len(bytes.Trim(page, string(page[0]))) > 0 {
				t.Fatalf("page %d is mixed", p)
			}
			letters = append(letters, page[0])
		}
		seen[string(letters)] = true
	}
	if len(seen) != 16 {
		t.Errorf("%d of 16 combinations of pages: %v", len(seen), seen)
	}
	one, again := d.Crash(Some, 7), d.Crash(Some, 7)
	if state(one) != state(again) {
		t.Error("one seed, two outcomes")
	}
}

// TestFailedSyncLosesItsPages is what Linux does, and why a failed sync ends a
// segment.
func TestFailedSyncLosesItsPages(t *testing.T) {
	for name, row := range map[string]struct {
		fault faults.Action
		want  string
	}{
		"before":  {faults.Before(syscall.EIO), pages("aaaa")},
		"half":    {faults.Half(0, syscall.EIO), pages("baba")},
		"after":   {faults.After(syscall.EIO), pages("bbba")},
		"no fail": {faults.Pass(), pages("bbba")},
	} {
		t.Run(name, func(t *testing.T) {
			d := New()
			f := durable(t, d, "a", pages("aaaa"))
			_, err := f.WriteAt([]byte(pages("bbb")), 0)
			must(t, err)
			d.SetHook(func(op Op) faults.Action {
				if op.Kind == Sync {
					return row.fault
				}
				return faults.Pass()
			})
			if err := f.Sync(); !errors.Is(err, row.fault.Err) {
				t.Errorf("error %v", err)
			}
			d.SetHook(nil)
			must(t, f.Sync()) // finds nothing to do
			if got := string(d.Content("a")); got != pages("bbba") {
				t.Errorf("before the crash it reads %.20q", got)
			}
			if got := string(d.Crash(None, 1).Content("a")); got != row.want {
				t.Error("after the crash it has other pages")
			}
			// Pages written once more are dirty again.
			_, err = f.WriteAt([]byte(pages("bbb")), 0)
			must(t, err)
			must(t, f.Sync())
			if got := string(d.Crash(None, 1).Content("a")); got != pages("bbba") {
				t.Error("written again, they are lost")
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for name, row := range map[string]struct {
		kind  Kind
		do    func(d *Disk) error
		check func(d *Disk) string // what took effect
		done  string
		half  string // "" is like done
	}{
		"create": {kind: Create, do: func(d *Disk) error { _, err := d.Create("b"); return err },
			check: names, done: "[a b]"},
		"remove": {kind: Remove, do: func(d *Disk) error { return d.Remove("a") }, check: names, done: "[]"},
		"rename": {kind: Rename, do: func(d *Disk) error { return d.Rename("a", "c") }, check: names, done: "[c]"},
		"write": {kind: Write, do: func(d *Disk) error {
			return onFile(d, func(f disk.File) error { return f.WriteVec([][]byte{{'x'}, {'y'}}, 0) })
		},
			check: func(d *Disk) string { return string(d.Content("a")) }, done: "xy34", half: "x234"},
		"truncate": {kind: Truncate, do: func(d *Disk) error { return onFile(d, func(f disk.File) error { return f.Truncate(1) }) },
			check: func(d *Disk) string { return string(d.Content("a")) }, done: "1"},
		"allocate": {kind: Allocate, do: func(d *Disk) error { return onFile(d, func(f disk.File) error { return f.Allocate(5) }) },
			check: func(d *Disk) string { return string(d.Content("a")) }, done: "1234\x00"},
	} {
		for way, fault := range map[string]faults.Action{
			"before": faults.Before(syscall.EIO), "after": faults.After(syscall.EIO), "half": faults.Half(0, syscall.EIO),
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				d := New()
				must(t, durable(t, d, "a", "1234").Close())
				want := row.done
				switch {
				case way == "before":
					want = row.check(d)
				case way == "half" && row.half != "":
					want = row.half
				}
				var seen []Op
				d.SetHook(func(op Op) faults.Action {
					seen = append(seen, op)
					if op.Kind == row.kind {
						return fault
					}
					return faults.Pass()
				})
				var path *fs.PathError
				if err := row.do(d); !errors.Is(err, syscall.EIO) || !errors.As(err, &path) {
					t.Errorf("error %v", err)
				}
				if got := row.check(d); got != want {
					t.Errorf("%q took effect, not %q", got, want)
				}
				if !slices.ContainsFunc(seen, func(op Op) bool { return op.Kind == row.kind && op.Name != "" }) {
					t.Errorf("the hook saw %v", seen)
				}
			})
		}
	}
}

func names(d *Disk) string { return fmt.Sprint(d.Names()) }

func onFile(d *Disk, do func(disk.File) error) error {
	f, err := d.Open("a")
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

func TestTheHookSeesRanges(t *testing.T) {
	d := New()
	f := durable(t, d, "a", "0123456789")
	var seen []Op
	d.SetHook(func(op Op) faults.Action { seen = append(seen, op); return faults.Pass() })
	_, _ = f.ReadAt(make([]byte, 3), 2)
	must(t, f.WriteVec([][]byte{{1, 2}, {3}}, 4))
	must(t, f.Allocate(20))
	from := seen[0].N
	want := []Op{{Read, "a", 2, 3, from}, {Write, "a", 4, 3, from + 1}, {Allocate, "a", 0, 20, from + 2}}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %v, not %v", seen, want)
	}
}

func TestCapacity(t *testing.T) {
	d := New()
	d.SetCapacity(10)
	f := create(t, d, "a", "123456")
	if n := 10 - d.Used(); n != 4 {
		t.Errorf("%d bytes are free", n)
	}
	for name, err := range map[string]error{
		"allocate": f.Allocate(11),
		"write":    f.WriteVec([][]byte{make([]byte, 5)}, 6),
		"truncate": f.Truncate(11),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	must(t, f.WriteVec([][]byte{[]byte("ok")}, 4)) // what is allocated can be written
	if got := string(d.Content("a")); got != "1234ok" {
		t.Errorf("content %q", got)
	}
	must(t, d.Remove("a"))
	if n := 10 - d.Used(); n != 10 {
		t.Errorf("%d bytes are free once the file is removed", n)
	}
	must(t, f.Allocate(8)) // nameless: it counts no more
	create(t, d, "b", "0123456789")
	must(t, d.Rename("b", "c"))
	crashed := d.Crash(All, 1)
	if n := 10 - crashed.Used(); n != 0 {
		t.Errorf("%d bytes are free after a crash", n)
	}
	d.SetCapacity(0)
	create(t, d, "d", strings.Repeat("x", 1000))
}

func TestDamage(t *testing.T) {
	d := New()
	durable(t, d, "a", "hello")
	must(t, d.Damage("a", func(b []byte) []byte { b[0] = 'J'; return b[:4] }))
	for name, d := range map[string]*Disk{"now": d, "after a crash": d.Crash(None, 1)} {
		if got := string(d.Content("a")); got != "Jell" {
			t.Errorf("%s: content %q", name, got)
		}
	}
	if err := d.Damage("b", func(b []byte) []byte { return b }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestACrashedDiskIsAnother(t *testing.T) {
	d := New()
	f := durable(t, d, "a", "x")
	_, err := d.Lock("me")
	must(t, err)
	for _, keep := range []Keep{None, All, Some, Killed} {
		c := d.Crash(keep, 1)
		if _, err := c.Lock("the next"); err != nil {
			t.Errorf("keep %d: the lock outlives its process: %v", keep, err)
		}
		is, _ := c.Identity()
		if was, _ := d.Identity(); is != was {
			t.Errorf("keep %d: another directory", keep)
		}
		_, err = f.WriteAt([]byte("y"), 0)
		must(t, err)
		if got := contentOf(c); got != "x" {
			t.Errorf("keep %d: the dead process still writes: %q", keep, got)
		}
		_, err = f.WriteAt([]byte("x"), 0)
		must(t, err)
		must(t, f.Sync())
	}
}

func TestHandles(t *testing.T) {
	d := New()
	f := create(t, d, "a", "x")
	g, err := d.Open("a")
	must(t, err)
	if d.Handles() != 2 {
		t.Errorf("%d handles", d.Handles())
	}
	must(t, errors.Join(f.Close(), g.Close()))
	if d.Handles() != 0 {
		t.Errorf("%d handles after Close", d.Handles())
	}
}
