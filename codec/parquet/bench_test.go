package parquet_test

import (
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
)

// BenchmarkWrite is a chunk from its bytes to pages; MB/s are of msgpack.
// pqarrow gets the same values, from the same walk over the chunk, in a
// RecordBuilder that knows the columns.
func BenchmarkWrite(b *testing.B) {
	chunk := Kubernetes(2000)
	for _, compression := range parquet.Compressions() {
		b.Run("own/"+compression, func(b *testing.B) {
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
	b.Run("pqarrow/snappy", func(b *testing.B) {
		schema := arrowSchema()
		w, err := pqarrow.NewFileWriter(schema, io.Discard,
			arrowparquet.NewWriterProperties(arrowparquet.WithCompression(compress.Codecs.Snappy)), pqarrow.DefaultWriterProps())
		if err != nil {
			b.Fatal(err)
		}
		builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		var r event.Reader
		var e event.Event
		b.SetBytes(int64(len(chunk)))
		b.ReportAllocs()
		for b.Loop() {
			for r.Reset(chunk); r.Next(&e); {
				builder.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(e.Time.Sec*1e6 + int64(e.Time.Nsec/1e3)))
				builder.Field(1).(*array.StringBuilder).Append("app.log")
				fill(e.Body, schema.Fields()[2:9], func(i int) array.Builder { return builder.Field(i + 2) })
				builder.Field(9).AppendNull()
			}
			record := builder.NewRecordBatch()
			if err := w.WriteBuffered(record); err != nil {
				b.Fatal(err)
			}
			record.Release()
		}
	})
}

func arrowSchema() *arrow.Schema {
	text := arrow.BinaryTypes.String
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	return arrow.NewSchema([]arrow.Field{
		field("date", arrow.FixedWidthTypes.Timestamp_us), field("tag", text),
		field("log", text), field("stream", text), field("level", text),
		field("id", arrow.PrimitiveTypes.Int64), field("latency", arrow.PrimitiveTypes.Float64), field("ok", arrow.FixedWidthTypes.Boolean),
		field("kubernetes", arrow.StructOf(
			field("pod_name", text), field("namespace_name", text), field("container_name", text), field("host", text),
			field("pod_id", text), field("docker_id", text),
			field("labels", arrow.StructOf(field("app", text), field("pod-template-hash", text), field("tier", text))),
		)),
		field("_extra", text),
	}, nil)
}

// fill appends a map's values to the builders of the fields, which come in the
// map's order.
func fill(raw []byte, fields []arrow.Field, builder func(i int) array.Builder) {
	i := 0
	for f := event.FieldsOf(raw); f.Next(); i++ {
		if key, _ := event.Text(f.Key); string(key) != fields[i].Name {
			panic("the benchmark's record has another field")
		}
		switch b := builder(i).(type) {
		case *array.StringBuilder:
			s, _ := event.Text(f.Value)
			b.BinaryBuilder.Append(s)
		case *array.Int64Builder:
			v, _ := event.Int(f.Value)
			b.Append(v)
		case *array.Float64Builder:
			v, _ := event.Float(f.Value)
			b.Append(v)
		case *array.BooleanBuilder:
			v, _ := event.Bool(f.Value)
			b.Append(v)
		case *array.StructBuilder:
			b.Append(true)
			fill(f.Value, b.Type().(*arrow.StructType).Fields(), b.FieldBuilder)
		}
	}
}
