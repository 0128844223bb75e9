package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/out-hdfs/out_hdfs/codec"
)

const magic = "PAR1"

// footer gathers what the end of the file says of its row groups, encoded: a
// file of many columns and small row groups has megabytes of it.
type footer struct {
	groups []byte
	count  int
	rows   int64
}

// group adds a row group that was written, beginning at the file's byte start,
// with the chunks of all columns one behind the other.
func (f *footer) group(columns []column, chunks []chunk, codec format.CompressionCodec, rows, start int64) error {
	g := rowGroup{Columns: make([]columnChunk, len(columns)), NumRows: rows, FileOffset: start}
	for i := range columns {
		g.Columns[i] = describe(&columns[i], chunks[i], codec)
		g.RawSize += columns[i].rawSize
		g.PackedSize += chunks[i].size
	}
	var err error
	if f.groups, err = appendStruct(f.groups, &g); err != nil {
		return fmt.Errorf("describe a row group: %w", err)
	}
	f.count++
	f.rows += rows
	return nil
}

// chunk is where a column's pages are in the file.
type chunk struct {
	dictionary int64 // 0 if there is none
	data       int64
	size       int64
}

func describe(c *column, at chunk, codec format.CompressionCodec) columnChunk {
	begin := at.data
	if at.dictionary > 0 {
		begin = at.dictionary
	}
	m := columnMetaData{
		Type: format.Type(c.leaf.physical), Encodings: c.encodings(at), Path: c.leaf.path, Codec: codec,
		NumValues: c.total, RawSize: c.rawSize, PackedSize: at.size, DataOffset: at.data, DictionaryOffset: at.dictionary,
		Statistics: statistics{NullCount: c.nulls}, EncodingStats: c.pageStats(at),
	}
	c.bounds.describe(&m.Statistics, c.leaf)
	return columnChunk{FileOffset: begin, MetaData: m}
}

func (c *column) encodings(at chunk) []format.Encoding {
	var list []format.Encoding
	if at.dictionary > 0 || len(c.pages) > c.dictPages {
		list = append(list, format.Plain)
	}
	list = append(list, format.RLE)
	if c.dictPages > 0 {
		list = append(list, format.RLEDictionary)
	}
	return list
}

// pageStats says how many pages have which encoding: readers filter by the
// dictionary only if all do.
func (c *column) pageStats(at chunk) (list []format.PageEncodingStats) {
	if at.dictionary > 0 {
		list = append(list,
			format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1},
			format.PageEncodingStats{PageType: format.DataPage, Encoding: format.RLEDictionary, Count: int32(c.dictPages)})
	}
	if plain := len(c.pages) - c.dictPages; plain > 0 {
		list = append(list, format.PageEncodingStats{PageType: format.DataPage, Encoding: format.Plain, Count: int32(plain)})
	}
	return list
}

// createdBy has the form that parquet-mr parses: without it some readers
// distrust the statistics.
const createdBy = "out_hdfs version 1.0.0 (build out_hdfs)"

// append writes the file's metadata, its length and the magic. It is FileMetaData
// field by field, since the elements of the schema and the row groups are encoded
// already.
func (f *footer) append(dst []byte, t *tree, m codec.Meta) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	from := len(dst)
	w := fields{b: b, Writer: compact.NewWriter(b)}
	w.field(1, thrift.I32)
	w.check(w.WriteInt32(2))
	w.encoded(2, t.count, t.elements)
	w.field(3, thrift.I64)
	w.check(w.WriteInt64(f.rows))
	w.encoded(4, f.count, f.groups)
	w.field(5, thrift.LIST)
	w.value(thrift.Slice[format.KeyValue]{
		{Key: "out_hdfs.writer_id", Value: m.WriterID},
		{Key: "out_hdfs.part", Value: fmt.Sprint(m.Part)},
		{Key: "out_hdfs.created", Value: m.Created.UTC().Format(time.RFC3339Nano)},
		{Key: "out_hdfs.schema_id", Value: fmt.Sprintf("%016x", t.schema.ID)},
		{Key: "out_hdfs.schema", Value: string(t.schema.Text)},
	})
	w.field(6, thrift.BINARY)
	w.check(w.WriteString(createdBy))
	w.field(7, thrift.LIST)
	orders := make(thrift.Slice[format.ColumnOrder], len(t.leaves))
	for i := range orders {
		orders[i].Value = &format.TypeDefinedOrder{} // the order of the column's type
	}
	w.value(orders)
	w.check(w.WriteField(thrift.Field{Type: thrift.STOP}))
	if w.err != nil {
		return nil, fmt.Errorf("write the footer: %w", w.err)
	}
	out := b.Bytes()
	out = binary.LittleEndian.AppendUint32(out, uint32(len(out)-from))
	return append(out, magic...), nil
}

// fields writes the fields of a struct, in the order of their ids.
type fields struct {
	thrift.Writer
	b    *bytes.Buffer
	last int16
	err  error
}

func (w *fields) check(err error) {
	if w.err == nil {
		w.err = err
	}
}

// field begins a field.
func (w *fields) field(id int16, typ thrift.Type) {
	w.check(w.WriteField(thrift.Field{ID: id - w.last, Type: typ, Delta: true}))
	w.last = id
}

// value writes what a field holds.
func (w *fields) value(v any) { w.check(thrift.NewEncoder(w.Writer).Encode(v)) }

// encoded writes a list of n structs that are encoded already.
func (w *fields) encoded(id int16, n int, structs []byte) {
	w.field(id, thrift.LIST)
	w.check(w.WriteList(thrift.List{Size: int32(n), Type: thrift.STRUCT}))
	w.b.Write(structs)
}
