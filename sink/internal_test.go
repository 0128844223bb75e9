package sink

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// TestPartIsFull: what a part's frame lists is bounded, by ordinals and by
// shares.
func TestPartIsFull(t *testing.T) {
	for _, row := range []struct {
		name string
		p    part
		want bool
	}{
		{"empty", part{}, false},
		{"large ordinals", part{runs: maxShares}, true},
		{"almost", part{runs: maxShares - shareSize, shares: make([]partShare, 0)}, false},
		{"many shares", part{shares: make([]partShare, maxShares/shareSize)}, true},
	} {
		if got := row.p.full(); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
		if row.want && row.p.file == nil {
			row.p.file = &stagedFile{}
			if row.p.buffered() < maxShares {
				t.Errorf("%s: memory_limit doesn't count it", row.name)
			}
		}
	}
}

// TestAttemptsAreForgotten: what is remembered of temps ends with them.
func TestAttemptsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a attempts
		if a.gone("of an earlier process") {
			t.Error("a temp of an earlier process is gone at once")
		}
		a.note("clear", fs.Target)
		a.note("unclear", fs.Unclear)
		for temp, want := range map[string]bool{"clear": true, "unclear": false, "of an earlier process": false} {
			if got := a.gone(temp); got != want {
				t.Errorf("%s is gone: %v", temp, got)
			}
		}
		time.Sleep(lateEffect)
		for _, temp := range []string{"clear", "unclear", "of an earlier process"} {
			if !a.gone(temp) {
				t.Errorf("%s isn't gone after a minute", temp)
			}
			a.forget(temp)
		}
		if len(a.known) != 0 {
			t.Errorf("%v is remembered", a.known)
		}
	})
}

// TestBackoffGrowsWithJitter from its first delay to its last.
func TestBackoffGrowsWithJitter(t *testing.T) {
	var b backoff
	seen := map[time.Duration]bool{}
	for i := range 100 {
		d, most := b.next(), maxDelay
		if i < 7 {
			most = firstDelay << i
		}
		if d > most || d < most/2 {
			t.Errorf("delay %d is %v", i, d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("%d different delays", len(seen))
	}
}

// TestRunsOfAnyOrder: ordinals are encoded once each, in whatever order they
// come.
func TestRunsOfAnyOrder(t *testing.T) {
	c := journal.CoverageOf(runsOf([]uint32{9, 2, 3, 2, 0, 9}))
	for i := range uint32(12) {
		if want := i == 0 || i == 2 || i == 3 || i == 9; c.Has(i) != want {
			t.Errorf("%d is covered: %v", i, c.Has(i))
		}
	}
	if c.Count() != 4 {
		t.Errorf("%d are covered", c.Count())
	}
}

// TestMemoryKeepsWithinItsLimit and counts what is given back.
func TestMemoryKeepsWithinItsLimit(t *testing.T) {
	m := memory{limit: 100}
	var kept []*buffer
	for range 20 {
		if k := m.keep(make([]byte, 9)); k != nil {
			kept = append(kept, k)
		}
	}
	if len(kept) != 11 || m.used.Load() != 99 {
		t.Errorf("%d payloads are kept, %d bytes", len(kept), m.used.Load())
	}
	for _, k := range kept {
		m.release(k)
		m.release(k) // twice is once
	}
	m.release(nil)
	if m.used.Load() != 0 {
		t.Errorf("%d bytes are still counted", m.used.Load())
	}
}

// TestASourceIsCheckedOnTheWay: whoever reads a staged file, or has the kernel
// read it, never gets a wrong one whole.
func TestASourceIsCheckedOnTheWay(t *testing.T) {
	root, err := disk.NewOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("0123456789"), 100_000)
	file, err := root.Create("part")
	if err == nil {
		_, err = file.WriteAt(content, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	read := func(s *stagedSource, from, slice int64) (err error) {
		buf := make([]byte, slice)
		for off := from; off < s.size && err == nil; {
			var n int
			n, err = s.ReadAt(buf[:min(slice, s.size-off)], off)
			off += int64(n)
		}
		return err
	}
	right := journal.CRC(content)
	for _, crc := range []uint32{right, right + 1} {
		fresh := func() *stagedSource {
			return &stagedSource{File: &gatedFile{file, &gate{}}, size: int64(len(content)), crc: crc}
		}
		s, ok := fresh(), crc == right
		if s.checked() {
			t.Error("it is checked before it was read")
		}
		if got := s.OSFile() != nil; got != ok || s.checked() != ok {
			t.Errorf("crc %08x: the kernel may copy: %v", crc, got)
		}
		s = fresh()
		if err := read(s, 0, 4096); (err == nil) != ok || s.checked() != ok {
			t.Errorf("crc %08x: read: %v", crc, err)
		}
		if err := read(s, 0, 999); (err == nil) != ok || s.checked() != ok {
			t.Errorf("crc %08x: read again: %v", crc, err)
		}
		s = fresh()
		if err := read(s, 10, 4096); err != nil || s.checked() {
			t.Errorf("crc %08x: without its beginning: %v", crc, err)
		}
	}
}
