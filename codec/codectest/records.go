package codectest

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// step is a share and how it comes.
type step struct {
	share
	by how
}

// filesHoldTheirRecords whichever way they come, some of them bad, and the same
// shares make the same file.
func filesHoldTheirRecords(t *testing.T, h Harness) {
	var shares []share
	for i, n := range []int{0, 1, 1, 2, 5, 5, 20, 20, 40, 200} {
		size := 0
		if n == 200 { // large enough for a member or a block of its own
			size = 1000
		}
		if h.Slow {
			n = (n + 9) / 10
		}
		shares = append(shares, records(1000*i, n, size))
	}
	f := h.New()
	if h.begin(t, f).learn(shares); t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		var steps []step
		for _, s := range rapid.Permutation(shares).Draw(t, "shares")[:rapid.IntRange(0, 8).Draw(t, "number")] {
			s = s.with(rapid.SliceOfN(rapid.IntRange(0, 40), 0, 3).Draw(t, "bad ones")...)
			steps = append(steps, step{s, rapid.SampledFrom(h.ways()).Draw(t, "how")})
		}
		write := func() []byte {
			x := h.begin(t, f)
			for _, s := range steps {
				x.add(s.share, s.by)
			}
			return x.check()
		}
		if a, b := write(), write(); !bytes.Equal(h.SameBut(a), h.SameBut(b)) {
			t.Fatalf("the same shares became files of %d and %d bytes that differ", len(a), len(b))
		}
	})
}

// smallAndLarge: many small batches with a large one here and there.
func smallAndLarge(t *testing.T, h Harness) {
	n, large := 200, 2000
	if h.Slow {
		n, large = 60, 500
	}
	shares := make([]share, n)
	for i := range shares {
		count := 2
		if i%100 == 50 {
			count = large
		}
		shares[i] = records(i*10_000, count, 0)
	}
	for _, by := range h.ways() {
		t.Run(string(by), func(t *testing.T) {
			x := h.begin(t, h.New())
			for _, s := range shares {
				x.add(s, by)
			}
			x.check()
		})
	}
}

// noRecords: batches without records write nothing, alone and among others.
func noRecords(t *testing.T, h Harness) {
	for _, by := range h.ways() {
		for name, shares := range map[string][]share{
			"no batch":           {},
			"empty batches":      {records(0, 0, 0), records(0, 0, 0)},
			"only rejects":       {records(0, 0, 0).with(0, 0), records(0, 0, 0).with(0)},
			"among others":       {records(0, 0, 0), records(0, 3, 0), records(0, 0, 0).with(0, 0), records(3, 1, 0), records(0, 0, 0)},
			"an empty one first": {records(0, 0, 0), records(0, 1, 0)},
		} {
			t.Run(fmt.Sprint(name, " by ", by), func(t *testing.T) {
				x := h.begin(t, h.New())
				for _, s := range shares {
					x.add(s, by)
				}
				x.check()
			})
		}
	}
}

// hugeRecord: a record that is larger than any buffer comes between others.
func hugeRecord(t *testing.T, h Harness) {
	size := 3 << 20
	if h.Slow {
		size = 600 << 10
	}
	huge := records(2, 1, size)
	for _, by := range h.ways() {
		x := h.begin(t, h.New())
		x.add(records(0, 2, 0), by)
		x.add(huge, by)
		x.add(records(3, 2, 0), by)
		x.check()
		if most := int64(4*size + 4<<20); x.w.Buffered() > most {
			t.Errorf("by %s: the writer still holds %d bytes", by, x.w.Buffered())
		}
	}
}

// rejectsLeaveNoTrace, wherever in their batch they stand.
func rejectsLeaveNoTrace(t *testing.T, h Harness) {
	for name, places := range map[string][]int{
		"at the beginning": {0}, "in the middle": {1}, "at the end": {3}, "everywhere": {0, 2, 4, 6}, "more than records": {0, 0, 0, 0, 0, 0},
	} {
		for _, by := range h.ways() {
			t.Run(fmt.Sprint(name, " by ", by), func(t *testing.T) {
				x, clean := h.begin(t, h.New()), h.begin(t, h.New())
				for n := range 3 {
					x.add(records(3*n, 3, 0).with(places...), by)
					clean.add(records(3*n, 3, 0), by)
				}
				if a, b := x.check(), clean.check(); !bytes.Equal(h.SameBut(a), h.SameBut(b)) {
					t.Error("the file differs from one of the same records without rejects")
				}
			})
		}
	}
}

// hostileChunks: each event is in the file or rejected, and those that are none
// are rejected.
func hostileChunks(t *testing.T, h Harness) {
	for _, c := range eventtest.HostileChunks() {
		t.Run(c.Name, func(t *testing.T) {
			for _, by := range h.ways() {
				h.counted(t, c.Chunk, by)
			}
		})
	}
}

// anyRecord: a file has as many records as it was given, whatever they hold.
func anyRecord(t *testing.T, h Harness) {
	if h.Spreads {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		var chunk []byte
		for i := range rapid.IntRange(1, 5).Draw(t, "events") {
			chunk = eventtest.Append(chunk, eventtest.Event(eventtest.At(int64(i), 0), eventtest.Maps(1).Draw(t, "metadata"), eventtest.Maps(2).Draw(t, "record")))
		}
		h.counted(t, chunk, rapid.SampledFrom(h.ways()).Draw(t, "how"))
	})
}

// counted writes a chunk between other records, and demands that the file has as
// many as weren't rejected, and the others as they were. An event is rejected if it
// has no record, or if the format chooses fields and it has none of them.
func (h *Harness) counted(t tester, chunk []byte, by how) {
	t.Helper()
	s := share{chunk: chunk, batch: batchOf(chunk)}
	none := h.withoutValue(t, s.batch)
	for _, e := range s.batch.Events {
		if e.Malformed != "" || none[e] {
			s.bad = append(s.bad, e)
		} else {
			s.keys = append(s.keys, "")
		}
	}
	before, after := records(0, 2, 0), records(2, 2, 0)
	x := h.begin(t, h.New())
	x.add(before, by)
	x.add(s, by)
	x.add(after, by)
	got := x.read(x.close())
	if len(got) != len(x.keys) {
		t.Fatalf("%d records became %d", len(x.keys), len(got))
	}
	for i, key := range append(before.keys, after.keys...) {
		if i >= len(before.keys) {
			i += len(s.keys)
		}
		if got[i] != key {
			t.Fatalf("record %d is %q, and was %q", i, got[i], key)
		}
	}
}

// withoutValue are the events that a format that chooses fields rejects for having
// none of them; rowsThatSayNothing is about which.
func (h *Harness) withoutValue(t tester, b *event.Batch) map[*event.Event]bool {
	t.Helper()
	none := map[*event.Event]bool{}
	if h.Choosing == nil {
		return none
	}
	rejects, err := h.begin(t, h.New()).w.Write(b)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	for _, r := range rejects {
		if r.Reason == codec.NoValue {
			none[r.Event] = true
		}
	}
	return none
}

// nothingGivenIsKept: batches, their chunk and blocks may be written over as
// soon as a call returns.
func nothingGivenIsKept(t *testing.T, h Harness) {
	f := h.New()
	for first := range h.ways() { // each with what the one before it left behind
		x := h.begin(t, f)
		for i := range 40 {
			s := records(i*100, 1+i%7*10, 100)
			by := h.ways()[(first+i)%len(h.ways())]
			if by == joining {
				by = byBlock
			}
			if by == byWrite {
				x.add(s, by)
				s.scribble()
				continue
			}
			block, rejects := x.enc.Encode([]byte("before"), s.batch)
			if len(rejects) > 0 || !bytes.HasPrefix(block, []byte("before")) {
				t.Fatalf("a block begins with %q, rejects %v", block[:6], rejects)
			}
			again := records(i*100, len(s.keys), 100)
			s.scribble()
			x.block, x.records, x.joined = block[6:], len(s.keys), []share{again}
			x.flush()
			for i := range block {
				block[i] = 0xaa
			}
			x.keys = append(x.keys, again.keys...)
		}
		x.check()
	}
}
