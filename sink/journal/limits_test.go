package journal

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

func TestSizesOfChunks(t *testing.T) {
	for _, size := range []int{0, 1, 7, 8, 9, 511, 512, 513, smallSegment / 2, smallSegment - 300, smallSegment, 10 * smallSegment} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			want := strings.Repeat("x", size)
			before := accept(t, j, Origin{}, "before")
			seq := accept(t, j, file("n", want), want)
			after := accept(t, j, Origin{}, "after")
			for range 2 {
				if data(t, j, seq) != want || data(t, j, before) != "before" || data(t, j, after) != "after" {
					t.Error("it isn't what was written")
				}
				j, d = restart(t, j, d, crashdisk.None)
			}
			appended(t, j, Void{seq})
			j, _ = restart(t, j, d, crashdisk.None)
			if n := len(j.Chunks()); n != 2 {
				t.Errorf("%d chunks", n)
			}
		})
	}
}

// TestALargeSegmentIsCopiedFromAndRemoved: what is larger than a segment
// doesn't stay when it is dead.
func TestALargeSegmentIsCopiedFromAndRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		large := accept(t, j, Origin{}, strings.Repeat("x", 20*smallSegment))
		small := accept(t, j, Origin{}, "small")
		appended(t, j, Void{large})
		for range 30 {
			appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("y", 2000))})
		}
		synctest.Wait()
		if got := j.Usage(); got > 6*smallSegment {
			t.Errorf("%d bytes are used", got)
		}
		if data(t, j, small) != "small" {
			t.Error("the small chunk is lost")
		}
		closed(t, j)
	})
}

// TestAChunkBeyondTheLimitIsRefused without being looked at: its memory isn't
// even touched.
func TestAChunkBeyondTheLimitIsRefused(t *testing.T) {
	j, _ := open(t, options(crashdisk.New()))
	body := make([]byte, log.MaxFrame)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := j.AppendChunk(context.Background(), "tag", arrival, file("n", ""), body, nil)
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Fatal("accepted")
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
		t.Errorf("%d bytes were allocated", got)
	}
	if seq := accept(t, j, file("n", ""), ""); seq != 1 {
		t.Errorf("the next chunk is %d", seq)
	}
}

// bigState fills the state with n live chunks of which some records are
// rolled.
func bigState(s *state, n int) {
	runs := share(0, 20, 3, 9).Runs
	for i := range n {
		seq := uint64(i + 1)
		f := &chunkFrame{seq: seq, arrival: arrival, origin: Origin{Dir: "/s/in", Name: fmt.Sprintf("1-%d.flb", i), CRC: uint32(i)}}
		f.apply(s, log.Location{Segment: 1, Offset: int64(i) * 1000, Length: 900})
		s.cover(Share{Seq: seq, Records: 20, Count: 6, Runs: runs}, false)
	}
}

// TestASnapshotAsLargeAsASegment, or larger: the segments grow with it, and
// the journal goes on without beginning one for each append.
func TestASnapshotAsLargeAsASegment(t *testing.T) {
	for name, chunks := range map[string]int{"nearly as large": 140, "larger": 1500} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := crashdisk.New()
				j, _ := open(t, options(d))
				var seqs []uint64
				for i := range chunks {
					seqs = append(seqs, accept(t, j, file(fmt.Sprint("n", i), ""), ""))
				}
				if n := len(newWriter(j).snapshot()); n < smallSegment*3/4 || chunks == 140 && n > smallSegment {
					t.Fatalf("the snapshot has %d bytes", n)
				}
				before := j.log.Current()
				bytes := 0
				for i := range 600 {
					appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", i))})
					bytes += i + 100
				}
				if n := int(j.log.Current() - before); n > 2*bytes/smallSegment {
					t.Errorf("%d segments for %d bytes", n, bytes)
				}
				j, _ = restart(t, j, d, crashdisk.None)
				if n := len(j.Chunks()); n != chunks {
					t.Errorf("%d chunks", n)
				}
				for _, seq := range seqs {
					appended(t, j, Void{seq})
				}
				for range 3 {
					appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", smallSegment))})
				}
				closed(t, j)
			})
		})
	}
}

// TestTheStateIsSmall: a hundred thousand live chunks are a bad hour.
func TestTheStateIsSmall(t *testing.T) {
	const n = 100_000
	var before, built, encoded runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := newState()
	bigState(s, n)
	runtime.GC()
	runtime.ReadMemStats(&built)
	perChunk := (built.HeapAlloc - before.HeapAlloc) / n
	b := s.encodeSnapshot(nil)
	runtime.ReadMemStats(&built)
	b = s.encodeSnapshot(make([]byte, 0, len(b))) // as the writer does
	runtime.ReadMemStats(&encoded)
	t.Logf("%d bytes in memory and %d in the snapshot for a chunk, %d MB allocated to encode all",
		perChunk, len(b)/n, (encoded.TotalAlloc-built.TotalAlloc)>>20)
	if perChunk > 600 {
		t.Errorf("a chunk takes %d bytes of memory", perChunk)
	}
	if got := len(b) / n; got > 120 {
		t.Errorf("a chunk takes %d bytes of the snapshot", got)
	}
	if got := encoded.TotalAlloc - built.TotalAlloc; got > 25<<20 {
		t.Errorf("encoding allocates %d bytes", got)
	}
	runtime.KeepAlive(s)
}

func TestAppendsWithoutFrames(t *testing.T) {
	j, _ := open(t, options(crashdisk.New()))
	if err := j.Append(); err != nil {
		t.Error(err)
	}
}

// TestRecoveryReadsTheNewestSegmentOnly, twice at most, whatever lives in the
// others.
func TestRecoveryReadsTheNewestSegmentOnly(t *testing.T) {
	read := func(chunks int) (bytes int64, segments int) {
		d := crashdisk.New()
		o := options(d)
		o.SegmentSize = 1 << 20
		j, _ := open(t, o)
		for range chunks {
			accept(t, j, Origin{}, strings.Repeat("x", 100<<10))
		}
		closed(t, j)
		segments = len(segmentsOf(d))
		newest := segmentsOf(d)[segments-1]
		d.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Read {
				if bytes += op.Length; op.Name != newest && op.Length > 2*log.MaxHeader && op.Name < newest {
					t.Errorf("%d bytes are read of %s", op.Length, op.Name)
				}
			}
			return faults.Pass()
		})
		j, r := open(t, o)
		if r.Chunks != chunks {
			t.Errorf("%d chunks", r.Chunks)
		}
		d.SetHook(nil)
		closed(t, j)
		return bytes, segments
	}
	few, _ := read(15)
	many, segments := read(155)
	t.Logf("%d bytes are read of %d segments, %d of few", many, segments, few)
	const headers = 2 * log.MaxHeader
	if many > 4<<20+int64(segments)*headers || few > 4<<20 {
		t.Errorf("%d bytes are read of %d segments", many, segments)
	}
}

// TestASearchForAFrameIsLinear also if a chunk is full of what looks like frame
// headers: a record can contain anything.
func TestASearchForAFrameIsLinear(t *testing.T) {
	const size = 4 << 20
	d := crashdisk.New()
	o := options(d)
	o.SegmentSize = 16 << 20
	j, _ := open(t, o)
	loc := log.Location{}
	{
		body := make([]byte, size)
		for at := 0; at+log.FrameHeaderSize < size; at += log.FrameHeaderSize {
			var h [log.FrameHeaderSize]byte
			log.PutFrameHeader(&h, log.Place{Segment: 1, Offset: int64(at)}, log.HeaderSize, log.Kind(KindChunk), [][]byte{body[:0]})
			h[2] = 0x30 // a length of megabytes
			copy(body[at:], h[:])
		}
		loc = j.st.chunks[accept(t, j, Origin{}, string(body))].loc
	}
	appended(t, j, Decoding{})
	appended(t, j, Decoding{})
	closed(t, j)
	if err := d.Damage(log.SegmentName(loc.Segment), func(b []byte) []byte { b[loc.Offset] ^= 1; return b }); err != nil {
		t.Fatal(err)
	}
	read := int64(0)
	d.SetHook(func(op crashdisk.Op) faults.Action {
		if op.Kind == crashdisk.Read {
			read += op.Length
		}
		return faults.Pass()
	})
	_, r := open(t, o)
	d.SetHook(nil)
	if read > 4*o.SegmentSize {
		t.Errorf("%d bytes are read of a segment of %d", read, o.SegmentSize)
	}
	if len(r.Damage) != 1 {
		t.Errorf("%v", r.Damage)
	}
}
