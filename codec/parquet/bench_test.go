package parquet_test

import (
	"io"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
)

// BenchmarkWrite is a chunk from its bytes to pages; MB/s are of msgpack.
// tests/bench has the same beside another encoder.
func BenchmarkWrite(b *testing.B) {
	chunk := Kubernetes(2000)
	for _, compression := range parquet.Compressions() {
		b.Run(compression, func(b *testing.B) {
			format := formatOf(b, parquet.Options{Compression: compression}, "", false)
			w, err := format.NewWriter(io.Discard, codec.Meta{})
			if err != nil {
				b.Fatal(err)
			}
			var r event.Reader
			events := make([]event.Event, 2000)
			batch := event.Batch{Tag: "app.log", Events: make([]*event.Event, 2000)}
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(chunk)
				for i := range events {
					r.Next(&events[i])
					batch.Events[i] = &events[i]
				}
				if _, err := w.Write(&batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
