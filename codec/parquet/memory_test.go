package parquet_test

import (
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
)

// wide is a chunk of n records with 30 fields, some of which repeat.
func wide(n, from int) []byte {
	var b []byte
	for i := range n {
		m := Map{}
		for k := range 30 {
			name := "field_" + strconv.Itoa(k)
			switch k % 5 {
			case 0:
				m = append(m, name, "value "+strconv.Itoa((from+i)*k))
			case 1:
				m = append(m, name, from+i*k)
			case 2:
				m = append(m, name, float64(from+i)/7)
			case 3:
				m = append(m, name, i%2 == 0)
			default:
				m = append(m, name, "one of "+strconv.Itoa(i%4))
			}
		}
		b = Append(b, Event(At(1767225600, 0), Map{}, m))
	}
	return b
}

// openFiles begins files and writes chunks to them in turn.
func openFiles(tb testing.TB, format codec.Format, files, chunks int) (writers []codec.Writer, peak int64) {
	tb.Helper()
	for range files {
		w, err := format.NewWriter(io.Discard, codec.Meta{})
		if err != nil {
			tb.Fatal(err)
		}
		writers = append(writers, w)
	}
	held := make([]int64, files)
	var total int64
	for c := range chunks {
		b := batch(wide(200, c*1000))
		for i, w := range writers {
			if _, err := w.Write(b); err != nil {
				tb.Fatal(err)
			}
			total += w.Buffered() - held[i]
			held[i] = w.Buffered()
			peak = max(peak, total)
		}
	}
	return writers, peak
}

// TestManyOpenFiles: 200 open files of 32 columns fit into what the sink gives
// to parts in progress by default, beside the 64 KiB that each stages, and
// Buffered says what they really take.
func TestManyOpenFiles(t *testing.T) {
	const limit, files = 128e6, 200
	format := formatOf(t, parquet.Options{}, "", false)
	before := Heap()
	writers, peak := openFiles(t, format, files, 14)
	if peak > limit-files*64<<10 {
		t.Errorf("%d files held %d bytes", files, peak)
	}
	var counted int64
	for _, w := range writers {
		counted += w.Buffered()
	}
	real := Heap() - before
	if real > counted*5/4+4<<20 || real < counted/2 {
		t.Errorf("the files say that they hold %d bytes, the heap has %d", counted, real)
	}
	runtime.KeepAlive(writers)
}

// TestGivenUp: a file that is dropped without Close stops counting as open.
func TestGivenUp(t *testing.T) {
	format := formatOf(t, parquet.Options{}, "", false)
	openFiles(t, format, 50, 1)
	for range 100 {
		runtime.GC()
		f := newFile(t, format)
		b := batch(wide(3000, 0))
		f.write(b)
		alone := f.w.Buffered()
		f.close()
		if alone > 600<<10 { // more than a fiftieth of the memory
			return
		}
		runtime.Gosched()
	}
	t.Error("50 files that were given up still take memory from the others")
}

// BenchmarkOpenFile prints what an open file holds, in bytes, by how many are
// open.
func BenchmarkOpenFile(b *testing.B) {
	for _, files := range []int{1, 20, 200} {
		b.Run(strconv.Itoa(files), func(b *testing.B) {
			format := formatOf(b, parquet.Options{}, "", false)
			for b.Loop() {
				writers, peak := openFiles(b, format, files, 14)
				b.ReportMetric(float64(peak)/float64(files), "bytes/file")
				runtime.KeepAlive(writers)
			}
		})
	}
}
