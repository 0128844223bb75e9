package staging

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

func newArea(t *testing.T, d *crashdisk.Disk, pending ...Staged) *Area {
	t.Helper()
	a := New(d, "/state", slog.New(slog.DiscardHandler))
	if err := a.Recover(pending); err != nil {
		t.Fatal(err)
	}
	return a
}

// described makes a staged file that says what it is.
func described(t *testing.T, a *Area, number uint64, content, description string) Staged {
	t.Helper()
	f, err := a.Create(number)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err = errors.Join(err, f.Flush()); err != nil {
		t.Fatal(err)
	}
	f.Describe([]byte(description))
	if err := f.MakeDurable(); err != nil {
		t.Fatal(err)
	}
	return f.Staged()
}

// TestAStagedFileSaysWhatItIs: the description is found, no byte of it is part of the
// content, and what it takes is counted.
func TestAStagedFileSaysWhatItIs(t *testing.T) {
	d := crashdisk.New()
	a := newArea(t, d)
	s := described(t, a, 7, "the content", "what it is")
	if got, err := a.Description(s.Name); err != nil || string(got) != "what it is" {
		t.Errorf("it says %q, %v", got, err)
	}
	src, err := a.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, _ := src.ReadAt(b, 0); string(b[:n]) != "the content" || src.Size() != 11 || !src.Checked() {
		t.Errorf("its content is %q", b[:n])
	}
	if n, err := src.ReadAt(b, 11); n != 0 || err == nil {
		t.Errorf("behind it there are %d bytes, %v", n, err)
	}
	_ = src.Close()
	size := int64(len(d.Content(s.Name)))
	if a.Bytes() != size {
		t.Errorf("%d of %d bytes are counted", a.Bytes(), size)
	}
	a = newArea(t, d, s)
	if a.Bytes() != size {
		t.Errorf("after a start %d of %d bytes are counted", a.Bytes(), size)
	}
	if a.Remove(s.Name, s.Length); a.Bytes() != 0 {
		t.Errorf("%d bytes of nothing are counted", a.Bytes())
	}
}

// TestADamagedDescriptionSaysNothing, and the content goes on.
func TestADamagedDescriptionSaysNothing(t *testing.T) {
	d := crashdisk.New()
	a := newArea(t, d)
	s := described(t, a, 7, "the content", "what it is")
	whole := d.Content(s.Name)
	for at := int(s.Length); at < len(whole); at++ {
		if err := d.Damage(s.Name, func([]byte) []byte { b := bytes.Clone(whole); b[at] ^= 1; return b }); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Description(s.Name); err != nil || got != nil {
			t.Errorf("with byte %d changed it says %q, %v", at, got, err)
		}
		if holds, err := a.Holds(s.Name, s.Length, s.CRC); err != nil || !holds {
			t.Errorf("with byte %d changed its content isn't what it was: %v", at, err)
		}
	}
	for n := range whole {
		if err := d.Damage(s.Name, func([]byte) []byte { return bytes.Clone(whole[:n]) }); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Description(s.Name); err != nil || got != nil {
			t.Errorf("cut to %d bytes it says %q, %v", n, got, err)
		}
	}
}

// TestADescriptionThatCantBeWritten leaves the file without one.
func TestADescriptionThatCantBeWritten(t *testing.T) {
	for way, fault := range map[string]faults.Action{"before": faults.Before(syscall.ENOSPC), "half": faults.Half(0, syscall.ENOSPC)} {
		t.Run(way, func(t *testing.T) {
			d := crashdisk.New()
			a := newArea(t, d)
			writes := 0
			d.SetHook(func(op crashdisk.Op) faults.Action {
				if op.Kind == crashdisk.Write && strings.HasPrefix(op.Name, dir) {
					if writes++; writes == 2 {
						return fault
					}
				}
				return faults.Pass()
			})
			s := described(t, a, 7, "the content", strings.Repeat("what it is", 1000))
			if got := d.Content(s.Name); string(got) != "the content" || a.Bytes() != s.Length {
				t.Errorf("%d bytes are there, %d are counted", len(got), a.Bytes())
			}
		})
	}
}

// TestNothingThatLiesAsideIsReplaced.
func TestNothingThatLiesAsideIsReplaced(t *testing.T) {
	d := crashdisk.New()
	a := newArea(t, d)
	for i, content := range []string{"one", "two", "three"} {
		s := described(t, a, 7, content, "")
		where, size, err := a.SetAside(s.Name)
		if want := []string{"/state/aside/7", "/state/aside/7.1", "/state/aside/7.2"}[i]; err != nil || where != want || size != s.Length+int64(footerSize) {
			t.Errorf("%s is at %s with %d bytes: %v", content, where, size, err)
		}
		if got := d.Content(strings.TrimPrefix(where, "/state/")); !bytes.HasPrefix(got, []byte(content)) || d.Content(s.Name) != nil {
			t.Errorf("%s is %q", content, got)
		}
	}
	if want := newArea(t, d).Aside(); a.Aside() != want || want == 0 {
		t.Errorf("%d of %d bytes are counted", a.Aside(), want)
	}
	if err := a.PurgeAside(func(part uint64) bool { return part == 7 }); err != nil || len(d.Names()) != 3 {
		t.Errorf("left are %v: %v", d.Names(), err)
	}
	if err := a.PurgeAside(func(uint64) bool { return false }); err != nil || len(d.Names()) != 0 || a.Aside() != 0 {
		t.Errorf("left are %v: %v", d.Names(), err)
	}
}
