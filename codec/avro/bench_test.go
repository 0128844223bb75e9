package avro_test

import (
	"io"
	"testing"

	"github.com/linkedin/goavro/v2"

	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// BenchmarkEncode is a chunk from its bytes to blocks; MB/s are of msgpack.
// goavro gets the same schema and, from the same walk over the chunk, the
// values in the form that it takes.
func BenchmarkEncode(b *testing.B) {
	chunk := Kubernetes(2000)
	for _, compression := range []string{avro.None, avro.Snappy, avro.Zstd, avro.Deflate} {
		b.Run("own/"+compression, func(b *testing.B) {
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
	for _, compression := range []string{"null", "snappy", "deflate"} {
		b.Run("goavro/"+compression, func(b *testing.B) {
			text := learnedText(b, chunk)
			w, err := goavro.NewOCFWriter(goavro.OCFConfig{W: io.Discard, Schema: text, CompressionName: compression})
			if err != nil {
				b.Fatal(err)
			}
			var r event.Reader
			var e event.Event
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				var list []any
				for r.Reset(chunk); r.Next(&e); {
					m := native(e.Body, "out_hdfs.event").(map[string]any)
					m["date"] = goavro.Union("long.timestamp-micros", e.Time.Std())
					m["tag"] = goavro.Union("string", "app.log")
					m["_extra"] = nil
					list = append(list, m)
				}
				if err := w.Append(list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func learnedText(tb testing.TB, chunk []byte) string {
	tb.Helper()
	f := newFile(tb, formatOf(tb, avro.None, "", false))
	f.write(batch(chunk))
	return string(split(tb, f.close()).metadata["avro.schema"])
}

// native is a value as goavro takes it, in the union with null.
func native(raw []byte, name string) any {
	switch event.KindOf(raw) {
	case event.KindBool:
		v, _ := event.Bool(raw)
		return goavro.Union("boolean", v)
	case event.KindInt:
		v, _ := event.Int(raw)
		return goavro.Union("long", v)
	case event.KindFloat64:
		v, _ := event.Float(raw)
		return goavro.Union("double", v)
	case event.KindString:
		s, _ := event.Text(raw)
		return goavro.Union("string", string(s))
	case event.KindMap:
		m := map[string]any{}
		for f := event.FieldsOf(raw); f.Next(); {
			key, _ := event.Text(f.Key)
			k := string(key)
			if k == "pod-template-hash" {
				k = "pod_template_hash"
			}
			m[k] = native(f.Value, nested(name, k))
		}
		if name == "out_hdfs.event" {
			return m
		}
		return goavro.Union(name+"_record", m)
	}
	return nil
}

func nested(name, k string) string { return name + "." + k }

// TestEncodeAllocatesNothing per record, once its buffers have grown.
func TestEncodeAllocatesNothing(t *testing.T) {
	for _, compression := range []string{avro.None, avro.Snappy} {
		enc := formatOf(t, compression, "", false).NewBlockEncoder()
		b := batch(Kubernetes(500))
		var dst []byte
		allocs := testing.AllocsPerRun(10, func() { dst, _ = enc.Encode(dst[:0], b) })
		if allocs > 5 {
			t.Errorf("%s: %v allocations for 500 records", compression, allocs)
		}
	}
}
