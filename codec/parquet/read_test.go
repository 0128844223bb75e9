package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"
	arrowfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	parquetgo "github.com/parquet-go/parquet-go"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// contents is a file as arrow-go reads it.
type contents struct {
	keyValues map[string]string
	columns   []string
	types     map[string]string
	rows      []schematest.Row
	groups    int
	codec     compress.Compression
}

// read reads a file with arrow-go, every page's checksum and every value.
func read(file []byte) (c contents, err error) {
	r, err := arrowfile.NewParquetReader(bytes.NewReader(file))
	if err != nil {
		return c, fmt.Errorf("open: %w", err)
	}
	defer r.Close()
	c.keyValues, c.types = map[string]string{}, map[string]string{}
	for _, k := range r.MetaData().KeyValueMetadata().Keys() {
		c.keyValues[k] = *r.MetaData().KeyValueMetadata().FindValue(k)
	}
	if c.groups = r.NumRowGroups(); c.groups > 0 {
		chunk, err := r.MetaData().RowGroup(0).ColumnChunk(0)
		if err != nil {
			return c, fmt.Errorf("read the metadata: %w", err)
		}
		c.codec = chunk.Compression()
	}
	a, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return c, fmt.Errorf("read the schema: %w", err)
	}
	table, err := a.ReadTable(context.Background())
	if err != nil {
		return c, fmt.Errorf("read the table: %w", err)
	}
	defer table.Release()
	for _, f := range table.Schema().Fields() {
		c.columns = append(c.columns, f.Name)
		c.types[f.Name] = f.Type.String()
	}
	t := array.NewTableReader(table, 1<<20)
	defer t.Release()
	for t.Next() {
		batch := t.RecordBatch()
		for i := range int(batch.NumRows()) {
			row := schematest.Row{}
			for k, name := range c.columns {
				row[name] = value(batch.Column(k), i)
			}
			c.rows = append(c.rows, row)
		}
	}
	if t.Err() != nil {
		return c, fmt.Errorf("read the rows: %w", t.Err())
	}
	return c, nil
}

// value is the i-th value of an array in Go's types.
func value(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return a.Value(i)
	case *array.FixedSizeBinary:
		return a.Value(i)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return a.Value(i).ToTime(unit)
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Time32:
		return time.Duration(a.Value(i)) * a.DataType().(*arrow.Time32Type).Unit.Multiplier()
	case *array.Time64:
		return time.Duration(a.Value(i)) * a.DataType().(*arrow.Time64Type).Unit.Multiplier()
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Struct:
		row := schematest.Row{}
		for k, f := range a.DataType().(*arrow.StructType).Fields() {
			row[f.Name] = value(a.Field(k), i)
		}
		return row
	case *array.Map:
		from, to := a.ValueOffsets(i)
		row := schematest.Row{}
		for k := from; k < to; k++ {
			row[a.Keys().(*array.String).Value(int(k))] = value(a.Items(), int(k))
		}
		return row
	case *array.List:
		from, to := a.ValueOffsets(i)
		list := []any{}
		for k := from; k < to; k++ {
			list = append(list, value(a.ListValues(), int(k)))
		}
		return list
	}
	return fmt.Sprintf("%T is new to this test", a)
}

// countWithParquetGo reads every value of a file with a second reader, which
// also looks at each column's count of values.
func countWithParquetGo(file []byte) (rows int64, err error) {
	f, err := parquetgo.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, err
	}
	for _, g := range f.RowGroups() {
		r := g.Rows()
		buf := make([]parquetgo.Row, 100)
		for {
			n, err := r.ReadRows(buf)
			rows += int64(n)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return rows, errors.Join(err, r.Close())
			}
		}
		if err := r.Close(); err != nil {
			return rows, err
		}
	}
	if rows != f.NumRows() {
		return rows, fmt.Errorf("the footer says %d rows, there are %d", f.NumRows(), rows)
	}
	return rows, nil
}

// sameRecords demands that a file of a learned schema holds the events, in
// their order.
func sameRecords(tb testing.TB, file []byte, events []*event.Event, tag string) contents {
	tb.Helper()
	c, err := read(file)
	if err != nil {
		tb.Fatalf("arrow-go can't read the file: %v", err)
	}
	if lz4 := c.codec == compress.Codecs.Lz4Raw; lz4 {
		// parquet-go v0.32.0 doesn't even read back its own pages of optional
		// columns in lz4_raw.
	} else if n, err := countWithParquetGo(file); err != nil || n != int64(len(events)) {
		tb.Fatalf("parquet-go reads %d rows of %d: %v", n, len(events), err)
	}
	text := c.keyValues["out_hdfs.schema"]
	fields, err := schematest.Root([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	for i, f := range fields {
		if i >= len(c.columns) || c.columns[i] != f.Column {
			tb.Fatalf("the columns %q aren't in the schema's order: %s", c.columns, text)
		}
	}
	if len(c.rows) != len(events) {
		tb.Fatalf("%d rows of %d events", len(c.rows), len(events))
	}
	for i, e := range events {
		want, err := schematest.Record(e.Body)
		if err != nil {
			tb.Fatal(err)
		}
		got, err := schematest.Restore(fields, c.rows[i], true)
		if err != nil {
			tb.Fatal(err)
		}
		if d := schematest.Differs(want, got); d != "" {
			tb.Fatalf("record %d: %s\nschema: %s", i, d, text)
		}
		date, _ := c.rows[i]["date"].(time.Time)
		if e.Time.Set != !date.IsZero() || e.Time.Set && date.UnixMicro() != schematest.Micros(e.Time) {
			tb.Fatalf("record %d of %v has the date %v", i, e.Time, c.rows[i]["date"])
		}
		if c.rows[i]["tag"] != tag {
			tb.Fatalf("record %d has the tag %v", i, c.rows[i]["tag"])
		}
	}
	return c
}

// file writes one file.
type file struct {
	tb   testing.TB
	out  bytes.Buffer
	w    codec.Writer
	sent int64
}

func newFile(tb testing.TB, f codec.Format) *file {
	tb.Helper()
	x := &file{tb: tb}
	w, err := f.NewWriter(&x.out, codec.Meta{WriterID: "host-1", Part: 7, Created: time.Unix(1767225600, 0)})
	if err != nil {
		tb.Fatal(err)
	}
	x.w = w
	return x
}

func (x *file) write(b *event.Batch) []codec.Reject {
	x.tb.Helper()
	rejects, err := x.w.Write(b)
	if err != nil {
		x.tb.Fatal(err)
	}
	x.sent += int64(len(b.Events) - len(rejects))
	return rejects
}

func (x *file) close() []byte {
	x.tb.Helper()
	if err := x.w.Close(); err != nil {
		x.tb.Fatal(err)
	}
	if got := x.w.(codec.Counter).Records(); got != x.sent {
		x.tb.Fatalf("the footer counts %d rows, %d were written", got, x.sent)
	}
	if got := x.w.Size(); got != int64(x.out.Len()) {
		x.tb.Fatalf("Size is %d, the file has %d bytes", got, x.out.Len())
	}
	return x.out.Bytes()
}
