package avro_test

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// BenchmarkEncode is a chunk from its bytes to blocks; MB/s are of msgpack.
// tests/bench has the same beside another encoder.
func BenchmarkEncode(b *testing.B) {
	chunk := Kubernetes(2000)
	for _, compression := range avro.Compressions() {
		b.Run(compression, func(b *testing.B) {
			format := formatOf(b, compression, "", false)
			enc := format.NewBlockEncoder()
			var r event.Reader
			events := make([]event.Event, 2000)
			batch := event.Batch{Tag: "app.log", Events: make([]*event.Event, 2000)}
			var dst []byte
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(chunk)
				for i := range events {
					r.Next(&events[i])
					batch.Events[i] = &events[i]
				}
				dst, _ = enc.Encode(dst[:0], &batch)
			}
		})
	}
}

// TestEncodeAllocatesNothing per record, once its buffers have grown.
func TestEncodeAllocatesNothing(t *testing.T) {
	for _, compression := range []string{compress.None, compress.Snappy} {
		enc := formatOf(t, compression, "", false).NewBlockEncoder()
		b := batch(Kubernetes(500))
		var dst []byte
		allocs := testing.AllocsPerRun(10, func() { dst, _ = enc.Encode(dst[:0], b) })
		if allocs > 5 {
			t.Errorf("%s: %v allocations for 500 records", compression, allocs)
		}
	}
}
