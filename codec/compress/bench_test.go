package compress_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// BenchmarkShares encodes, compresses and writes a share of a chunk, as lines
// of JSON, beside the standard library's gzip. MB/s are of lines; ratio is what
// remains of them; small shares are all the same here, so theirs flatters.
func BenchmarkShares(b *testing.B) {
	for _, n := range []int{20, 2000} {
		list, _ := Read(Kubernetes(n))
		batch := &event.Batch{Events: list}
		lines, _ := json.NewEncoder(json.Options{}).Encode(nil, batch)
		size := "small "
		if n > 1000 {
			size = "large "
		}
		for _, name := range compress.Names() {
			b.Run(size+name, func(b *testing.B) {
				f := wrap(b, name)
				enc := f.NewBlockEncoder()
				w, _ := f.NewWriter(io.Discard, codec.Meta{})
				var block []byte
				b.SetBytes(int64(len(lines)))
				b.ReportAllocs()
				shares := 0
				for b.Loop() {
					shares++
					block, _ = enc.Encode(block[:0], batch)
					if err := w.(codec.BlockWriter).WriteBlock(block, n); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(w.Size())/float64(shares)/float64(len(lines)), "ratio")
			})
		}
		b.Run(size+"compress/gzip", func(b *testing.B) {
			enc := json.NewEncoder(json.Options{})
			var out bytes.Buffer
			w := stdgzip.NewWriter(&out)
			var rows []byte
			b.SetBytes(int64(len(lines)))
			b.ReportAllocs()
			for b.Loop() {
				rows, _ = enc.Encode(rows[:0], batch)
				out.Reset()
				w.Reset(&out)
				if _, err := w.Write(rows); err != nil {
					b.Fatal(err)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len())/float64(len(lines)), "ratio")
		})
	}
}
