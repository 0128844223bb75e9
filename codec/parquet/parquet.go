// Package parquet writes Parquet files: typed columns in row groups, in the
// schema's order.
//
// Files are made for every reader there is: data pages of version 1, the
// encodings PLAIN and RLE_DICTIONARY, three-level lists and maps, timestamps as
// microseconds in UTC, statistics that are true or absent, no bloom filters and
// no sort order. A record is taken apart into checked cells of all columns
// before any column is touched, so a value of the wrong type can't shift,
// change or lose another record.
//
// A row group is in memory until it is whole, its pages compressed: a file's
// memory is bounded by Options.Memory, which all open files share, and Buffered
// counts all of it. The more files are open, the smaller their row groups.
//
// It must never write a value that its column's type doesn't hold, or keep a
// row back at Close.
package parquet

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Options configure the format.
type Options struct {
	// Compression is one of Compressions; "" is the default, Snappy.
	Compression string
	Schemas     *schema.Schemas
	// Variant writes free-form columns as VARIANT instead of text.
	Variant bool
	// Memory is what all open files together may hold, in bytes; 0 is
	// DefaultMemory. It is kept but for a floor of some hundred KiB a file.
	Memory int64
	// RowGroup is how many compressed bytes make a row group; 0 is
	// DefaultRowGroup.
	RowGroup int64
}

// The defaults of Options.
const (
	DefaultMemory   = 96 << 20
	DefaultRowGroup = 64 << 20
)

// New returns the format. A given schema that Parquet has no columns for is an
// error that wraps ErrSchema.
func New(o Options) (codec.Format, error) {
	if o.Compression == "" {
		o.Compression = Snappy
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.RowGroup == 0 {
		o.RowGroup = DefaultRowGroup
	}
	c, err := newCompressor(o.Compression)
	if err != nil {
		return nil, err
	}
	f := &files{options: o, compressor: c}
	f.pagers.New = func() any { return &pager{compressor: c} }
	if _, err := f.treeOf(o.Schemas.Current()); err != nil {
		return nil, err
	}
	return f, nil
}

// Check reports whether Parquet has columns for a schema.
func Check(s *schema.Schema) error {
	_, err := compile(s, false)
	return err
}

// files makes files of one configuration.
type files struct {
	options    Options
	compressor *compressor
	pagers     sync.Pool
	open       atomic.Int64 // files

	lock   sync.Mutex
	latest *tree
}

var (
	_ codec.Format  = (*files)(nil)
	_ codec.Counter = (*writer)(nil)
)

// Extension implements codec.Format. The compression is inside the file.
func (*files) Extension() string { return ".parquet" }

// NewWriter implements codec.Format. The file begins with its first records:
// its schema is learned from them.
func (f *files) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	return newWriter(f, w, m), nil
}

// treeOf compiles a schema, once for all files that have it one after another.
func (f *files) treeOf(s *schema.Schema) (*tree, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.latest == nil || f.latest.schema != s {
		t, err := compile(s, f.options.Variant)
		if err != nil {
			return nil, fmt.Errorf("begin a Parquet file: %w", err)
		}
		f.latest = t
	}
	return f.latest, nil
}
