package parquet

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
)

const magic = "PAR1"

// footer gathers what the end of the file says of its row groups, encoded: a
// file of many columns and small row groups has megabytes of it.
type footer struct {
	groups thrift
	count  int
	rows   int64
}

// group adds a row group that was written, beginning at the file's byte start,
// with the chunks of all columns one behind the other.
func (f *footer) group(t *tree, columns []column, chunks []chunk, codec int32, rows, start int64) {
	g := &f.groups
	outer := g.open()
	g.list(1, typeStruct, len(columns))
	var raw, packed int64
	for i := range columns {
		columnChunk(g, &columns[i], chunks[i], codec)
		raw += columns[i].rawSize
		packed += chunks[i].size
	}
	g.i64(2, raw)
	g.i64(3, rows)
	g.i64(5, start)
	g.i64(6, packed)
	g.end(outer)
	f.count++
	f.rows += rows
}

// chunk is where a column's pages are in the file.
type chunk struct {
	dictionary int64 // 0 if there is none
	data       int64
	size       int64
}

func columnChunk(g *thrift, c *column, at chunk, codec int32) {
	begin := at.data
	if at.dictionary > 0 {
		begin = at.dictionary
	}
	outer := g.open()
	g.i64(2, begin)
	meta := g.begin(3)
	g.i32(1, c.leaf.physical)
	encodings := c.encodings(at)
	g.list(2, typeI32, len(encodings))
	for _, e := range encodings {
		g.b = binary.AppendVarint(g.b, int64(e))
	}
	g.list(3, typeBinary, len(c.leaf.path))
	for _, name := range c.leaf.path {
		g.element(name)
	}
	g.i32(4, codec)
	g.i64(5, c.total)
	g.i64(6, c.rawSize)
	g.i64(7, at.size)
	g.i64(9, at.data)
	if at.dictionary > 0 {
		g.i64(11, at.dictionary)
	}
	stats := g.begin(12)
	g.i64(3, c.nulls)
	c.bounds.append(g, c.leaf)
	g.end(stats)
	c.pageStats(g, at)
	g.end(meta)
	g.end(outer)
}

func (c *column) encodings(at chunk) []int32 {
	var list []int32
	if at.dictionary > 0 || len(c.pages) > c.dictPages {
		list = append(list, encodingPlain)
	}
	list = append(list, encodingRLE)
	if c.dictPages > 0 {
		list = append(list, encodingIndexes)
	}
	return list
}

// pageStats says how many pages have which encoding: readers filter by the
// dictionary only if all do.
func (c *column) pageStats(g *thrift, at chunk) {
	type pages struct {
		kind, encoding int32
		n              int
	}
	var list []pages
	if at.dictionary > 0 {
		list = append(list, pages{dictionaryPage, encodingPlain, 1}, pages{dataPage, encodingIndexes, c.dictPages})
	}
	if plain := len(c.pages) - c.dictPages; plain > 0 {
		list = append(list, pages{dataPage, encodingPlain, plain})
	}
	g.list(13, typeStruct, len(list))
	for _, p := range list {
		outer := g.open()
		g.i32(1, p.kind)
		g.i32(2, p.encoding)
		g.i32(3, int32(p.n))
		g.end(outer)
	}
}

// createdBy has the form that parquet-mr parses: without it some readers
// distrust the statistics.
const createdBy = "out_hdfs version 1.0.0 (build out_hdfs)"

// append writes the file's metadata, its length and the magic.
func (f *footer) append(dst []byte, t *tree, m codec.Meta) []byte {
	w := thrift{b: dst}
	from := len(dst)
	w.i32(1, 2)
	w.list(2, typeStruct, t.count)
	w.b = append(w.b, t.elements...)
	w.i64(3, f.rows)
	w.list(4, typeStruct, f.count)
	w.b = append(w.b, f.groups.b...)
	pairs := [][2]string{
		{"out_hdfs.writer_id", m.WriterID},
		{"out_hdfs.part", fmt.Sprint(m.Part)},
		{"out_hdfs.created", m.Created.UTC().Format(time.RFC3339Nano)},
		{"out_hdfs.schema_id", fmt.Sprintf("%016x", t.schema.ID)},
		{"out_hdfs.schema", string(t.schema.Text)},
	}
	w.list(5, typeStruct, len(pairs))
	for _, p := range pairs {
		outer := w.open()
		w.text(1, p[0])
		w.text(2, p[1])
		w.end(outer)
	}
	w.text(6, createdBy)
	w.list(7, typeStruct, len(t.leaves))
	for range t.leaves {
		outer := w.open()
		w.empty(1) // the order of the column's type
		w.end(outer)
	}
	w.end(0)
	b := binary.LittleEndian.AppendUint32(w.b, uint32(len(w.b)-from))
	return append(b, magic...)
}
