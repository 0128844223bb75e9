// Package avro writes Avro object container files: a schema, and blocks of
// records that are compressed one by one.
//
// Blocks are encoded and compressed ahead of the file, in parallel, straight
// from msgpack and without allocating per record. Only the writer knows the
// file's sync marker and schema. A learned schema may have widened between the
// encoding of a block and the beginning of the part it lands in, so a block
// names the schema that it was encoded under, and a file refuses any but its
// own (codec.ErrOtherSchema): the events are then encoded once more, under the
// file's.
//
// Every file is readable by itself, with the schema in its header. A record
// either is in the file as the schema's documentation says, or is rejected with
// its field and the reason; it never changes or loses another. What a learned
// schema has no column for is in the field _extra.
//
// It must never keep a record back from the file at Close, or put two schemas
// into one file.
package avro

import (
	"fmt"
	"io"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Options configure the format.
type Options struct {
	// Compression is one of Compressions; "" is the default, Snappy.
	Compression string
	Schemas     *schema.Schemas
}

// New returns the format.
func New(o Options) (codec.Format, error) {
	if o.Compression == "" {
		o.Compression = Snappy
	}
	c, err := newCompressor(o.Compression)
	if err != nil {
		return nil, err
	}
	return &format{schemas: o.Schemas, compressor: c}, nil
}

type format struct {
	schemas    *schema.Schemas
	compressor *compressor
}

var (
	_ codec.BlockFormat  = (*format)(nil)
	_ codec.BlockEncoder = (*blockEncoder)(nil)
	_ codec.BlockWriter  = (*writer)(nil)
	_ codec.Counter      = (*writer)(nil)
)

// Extension implements codec.Format. The compression is inside the file.
func (*format) Extension() string { return ".avro" }

// NewBlockEncoder implements codec.BlockFormat.
func (f *format) NewBlockEncoder() codec.BlockEncoder { return &blockEncoder{format: f} }

// NewWriter implements codec.Format. The file begins with its first records:
// its schema is learned from them.
func (f *format) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	marker, err := newMarker()
	if err != nil {
		return nil, fmt.Errorf("begin an Avro file: %w", err)
	}
	return &writer{format: f, w: w, meta: m, marker: marker}, nil
}
