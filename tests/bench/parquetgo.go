package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	ours "github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	records "github.com/out-hdfs/out_hdfs/codec/schema/walk"
)

// parquetGoRecord is what our own schema of the chunks' records is. It tells
// parquet-go ahead which columns repeat themselves enough for a dictionary; our
// own encoder has to find out.
type parquetGoRecord struct {
	Date       int64   `parquet:"date,optional,timestamp(microsecond),dict"`
	Log        string  `parquet:"log,optional,plain"`
	Stream     string  `parquet:"stream,optional,dict"`
	Level      string  `parquet:"level,optional,dict"`
	ID         int64   `parquet:"id,optional"`
	Latency    float64 `parquet:"latency,optional,dict"`
	OK         bool    `parquet:"ok,optional"`
	Kubernetes *struct {
		PodName       string `parquet:"pod_name,optional,dict"`
		NamespaceName string `parquet:"namespace_name,optional,dict"`
		ContainerName string `parquet:"container_name,optional,dict"`
		Host          string `parquet:"host,optional,dict"`
		PodID         string `parquet:"pod_id,optional,dict"`
		DockerID      string `parquet:"docker_id,optional,dict"`
		Labels        *struct {
			App             string `parquet:"app,optional,dict"`
			PodTemplateHash string `parquet:"pod-template-hash,optional,dict"`
			Tier            string `parquet:"tier,optional,dict"`
		} `parquet:"labels,optional"`
	} `parquet:"kubernetes,optional"`
	Extra string `parquet:"_extra,optional,dict"`
}

const (
	// parquetGoRows is how many rows a column gets at a time.
	parquetGoRows = 256
	// The sizes of a page and a dictionary are those of our own encoder, as long
	// as a file may hold that much.
	parquetGoPage       = 128 << 10
	parquetGoDictionary = 1 << 20
	// parquetGoChunk is by how much a column's finished pages grow. The default,
	// 32 KiB, is more than most columns of many open files have.
	parquetGoChunk = 8 << 10
)

// parquetGo writes Parquet with parquet-go's column writers: the values that
// our own encoder writes, by way of the same walk over records. Its files are as
// every reader takes them: data pages of version 1, PLAIN and RLE_DICTIONARY.
// Bounds are computed, since SkipPageBounds leaves zeros in the column index,
// which are false. One goroutine uses it.
type parquetGo struct {
	options []parquet.WriterOption
	group   int64 // bytes of a row group
	schemas *schema.Schemas
	begun   bool // the schema is learned
	walker  records.Walker
	cells   parquetGoCells // of rows that no column has yet
	rows    int
}

var _ codec.Format = (*parquetGo)(nil)

// newParquetGo is the format for as many files as are open at a time. Its row
// groups are bounded like those of our own encoder.
func newParquetGo(compression string, files int) (*parquetGo, error) {
	codecs := map[string]compress.Codec{
		ours.None: &uncompressed.Codec{}, ours.Snappy: &snappy.Codec{}, ours.Zstd: &zstd.Codec{},
		ours.Gzip: &gzip.Codec{Level: gzip.DefaultCompression}, ours.LZ4Raw: &lz4.Codec{Level: lz4.Fastest},
	}
	codec, ok := codecs[compression]
	if !ok {
		return nil, fmt.Errorf("no compression %q of parquet-go's", compression)
	}
	schemas, err := schema.Open(schema.Options{DateKey: "date"})
	if err != nil {
		return nil, err
	}
	p := &parquetGo{group: min(ours.DefaultRowGroup, ours.DefaultMemory/int64(files)), schemas: schemas}
	columns := parquet.SchemaOf(parquetGoRecord{})
	for _, path := range columns.Columns() {
		p.cells.levels = append(p.cells.levels, len(path)) // all is optional
		p.cells.columns = append(p.cells.columns, make([]parquet.Value, 0, parquetGoRows))
	}
	p.options = []parquet.WriterOption{
		columns, parquet.Compression(codec),
		parquet.DataPageVersion(1), parquet.DataPageStatistics(false), parquet.DictionaryMaxBytes(parquetGoDictionary),
		parquet.ColumnPageBuffers(parquet.NewChunkBufferPool(parquetGoChunk)),
		parquet.PageBufferSize(min(parquetGoPage, int(p.group)/2/len(p.cells.columns))),
	}
	if _, err = parquet.NewWriterConfig(p.options...); err != nil {
		return nil, fmt.Errorf("configure parquet-go: %w", err)
	}
	return p, nil
}

func (*parquetGo) Extension() string { return ".parquet" }

func (p *parquetGo) NewWriter(w io.Writer, _ codec.Meta) (codec.Writer, error) {
	return &parquetGoFile{format: p, w: parquet.NewGenericWriter[parquetGoRecord](w, p.options...)}, nil
}

// parquetGoCells are the values of rows, by column. The walk gives them in the
// schema's order, which is that of the columns.
type parquetGoCells struct {
	levels  []int // definition level of a value, by column
	columns [][]parquet.Value
	next    int // column of the record at hand
	rest    int // the column of what has no other
}

var _ records.Emitter = (*parquetGoCells)(nil)

func (c *parquetGoCells) put(level int, v parquet.Value) {
	c.columns[c.next] = append(c.columns[c.next], v.Level(0, level, c.next))
	c.next++
}

func (c *parquetGoCells) value(v parquet.Value) { c.put(c.levels[c.next], v) }

func (c *parquetGoCells) Mark() int {
	c.next = 0
	return 0
}

func (*parquetGoCells) Rewind(int) { panic(errOtherRecord) }

func (c *parquetGoCells) Null(*schema.Type)                { c.put(c.levels[c.next]-1, parquet.NullValue()) }
func (c *parquetGoCells) Bool(_ *schema.Type, v bool)      { c.value(parquet.BooleanValue(v)) }
func (c *parquetGoCells) Long(_ *schema.Type, v int64)     { c.value(parquet.Int64Value(v)) }
func (c *parquetGoCells) Double(_ *schema.Type, v float64) { c.value(parquet.DoubleValue(v)) }
func (c *parquetGoCells) Bytes(_ *schema.Type, b []byte)   { c.value(parquet.ByteArrayValue(b)) }
func (c *parquetGoCells) Symbol(_ *schema.Type, _ int, symbol []byte) {
	c.value(parquet.ByteArrayValue(symbol))
}

func (*parquetGoCells) Record(*schema.Type)      {}
func (*parquetGoCells) Begin(*schema.Type, int)  { panic(errOtherRecord) }
func (*parquetGoCells) Next(*schema.Type)        { panic(errOtherRecord) }
func (*parquetGoCells) Key(*schema.Type, []byte) { panic(errOtherRecord) }
func (*parquetGoCells) End(*schema.Type)         { panic(errOtherRecord) }
func (*parquetGoCells) Branch(*schema.Type, int) { panic(errOtherRecord) }

func (c *parquetGoCells) Rest(*schema.Type) {
	c.rest = c.next
	c.next++
}

func (c *parquetGoCells) PutRest(t *schema.Type, json []byte) {
	c.next = c.rest
	if json == nil {
		c.Null(t)
	} else {
		c.Bytes(t, json)
	}
}

// errOtherRecord is why the walk can't go on: parquetGoRecord has no such column.
var errOtherRecord = errors.New("the benchmark's record has another field")

// parquetGoFile is one file.
type parquetGoFile struct {
	format *parquetGo
	w      *parquet.GenericWriter[parquetGoRecord]
	begun  int64 // the file's size where the row group begins
}

func (f *parquetGoFile) Write(b *event.Batch) (rejects []codec.Reject, err error) {
	p := f.format
	if !p.begun {
		p.begun = true
		learned := p.schemas.Begin(b)
		p.walker.Use(learned, learned.Root, &p.cells)
	}
	for _, e := range b.Events {
		if reason := p.walker.Record(e, b); reason != "" {
			rejects = append(rejects, codec.Reject{Event: e, Reason: reason})
			continue
		}
		if p.rows++; p.rows == parquetGoRows {
			if err := f.take(); err != nil {
				return nil, err
			}
		}
	}
	return rejects, f.take()
}

// take moves the cells into the columns, and ends a row group that is full.
func (f *parquetGoFile) take() error {
	for i, c := range f.w.ColumnWriters() {
		if _, err := c.WriteRowValues(f.format.cells.columns[i]); err != nil {
			return fmt.Errorf("write to column %d: %w", i, err)
		}
		f.format.cells.columns[i] = f.format.cells.columns[i][:0]
	}
	f.format.rows = 0
	f.format.walker.Reset()
	if f.Buffered() < f.format.group {
		return nil
	}
	if err := f.w.Flush(); err != nil {
		return fmt.Errorf("end a row group: %w", err)
	}
	f.begun = f.w.Size()
	return nil
}

func (f *parquetGoFile) Size() int64 { return f.w.Size() }

// Buffered is what parquet-go says of the row group. It leaves out most of what
// is allocated beside the values.
func (f *parquetGoFile) Buffered() int64 { return f.w.Size() - f.begun }

func (f *parquetGoFile) Close() error { return f.w.Close() }
