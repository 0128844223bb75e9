package main

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// outside is how many columns come before the record's: date.
const outside = 1

// arrowFile writes Parquet with arrow-go: the values that our own encoder
// writes, from the same walk over the chunk, in a RecordBuilder that knows the
// columns.
type arrowFile struct {
	schema  *arrow.Schema
	codec   compress.Compression
	builder *array.RecordBuilder
	fields  []arrowField // of the record, without what lies outside it
	w       *pqarrow.FileWriter
	out     discarded
	reader  event.Reader
}

func newArrow(compression string) (*arrowFile, error) {
	codecs := map[string]compress.Compression{
		"none": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy,
		"zstd": compress.Codecs.Zstd, "gzip": compress.Codecs.Gzip,
	}
	codec, ok := codecs[compression]
	if !ok {
		return nil, fmt.Errorf("no compression %q of pqarrow's", compression)
	}
	schema := arrowSchema()
	a := &arrowFile{schema: schema, codec: codec, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}
	a.fields = fieldsOfBuilders(schema.Fields(), a.builder.Field)[outside : schema.NumFields()-1]
	return a, nil
}

func (a *arrowFile) add(chunk []byte) (err error) {
	if a.w == nil {
		a.out = discarded{}
		a.w, err = pqarrow.NewFileWriter(a.schema, &a.out,
			parquet.NewWriterProperties(parquet.WithCompression(a.codec)), pqarrow.DefaultWriterProps())
		if err != nil {
			return err
		}
	}
	date := a.builder.Field(0).(*array.TimestampBuilder)
	rest := a.builder.Field(a.schema.NumFields() - 1)
	var e event.Event
	for a.reader.Reset(chunk); a.reader.Next(&e); {
		date.Append(arrow.Timestamp(e.Time.Sec*1e6 + int64(e.Time.Nsec/1e3)))
		fill(e.Body, a.fields)
		rest.AppendNull()
	}
	record := a.builder.NewRecordBatch()
	defer record.Release()
	return a.w.WriteBuffered(record)
}

func (a *arrowFile) end() (int64, error) {
	err := a.w.Close()
	a.w = nil
	return a.out.n, err
}

// arrowSchema is what our own schema of the chunks' records is.
func arrowSchema() *arrow.Schema {
	text := arrow.BinaryTypes.String
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	return arrow.NewSchema([]arrow.Field{
		field("date", arrow.FixedWidthTypes.Timestamp_us),
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

// arrowField is a field's builder, and those of the fields within it.
type arrowField struct {
	name    string
	builder array.Builder
	fields  []arrowField
}

func fieldsOfBuilders(fields []arrow.Field, builder func(i int) array.Builder) (all []arrowField) {
	for i, f := range fields {
		one := arrowField{name: f.Name, builder: builder(i)}
		if nested, ok := one.builder.(*array.StructBuilder); ok {
			one.fields = fieldsOfBuilders(f.Type.(*arrow.StructType).Fields(), nested.FieldBuilder)
		}
		all = append(all, one)
	}
	return all
}

// fill appends a map's values to the builders of the fields, which come in the
// map's order.
func fill(raw []byte, fields []arrowField) {
	i := 0
	for f := event.FieldsOf(raw); f.Next(); i++ {
		if key, _ := event.Text(f.Key); string(key) != fields[i].name {
			panic("the benchmark's record has another field")
		}
		switch b := fields[i].builder.(type) {
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
			fill(f.Value, fields[i].fields)
		}
	}
}
