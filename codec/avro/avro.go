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
	"errors"
	"fmt"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/members"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Options configure the format.
type Options struct {
	// Compression is one of Compressions; "" is the default.
	Compression string
	Schemas     *schema.Schemas
}

// Compressions lists the compressions that Avro's specification names, the
// default first. Java's Avro reads them all; snappy and deflate are read
// everywhere.
func Compressions() []string {
	return []string{compress.Snappy, compress.Deflate, compress.Zstd, compress.Bzip2, compress.None}
}

// ErrCompression is wrapped by New's error.
var ErrCompression = errors.New("not a compression of Avro files")

// compression is how the blocks of a file are compressed.
type compression struct {
	codec string // avro.codec in the file's header
	name  string // for compress.New
	level int
}

func compressionOf(name string) (c compression, ok bool) {
	switch name {
	case compress.None:
		c = compression{codec: "null", name: compress.None}
	case compress.Snappy, "":
		c = compression{codec: "snappy", name: compress.SnappyChecked, level: 1}
	case compress.Deflate:
		c = compression{codec: "deflate", name: compress.RawDeflate, level: 5}
	case compress.Zstd:
		c = compression{codec: "zstandard", name: compress.Zstd, level: 3}
	case compress.Bzip2:
		c = compression{codec: "bzip2", name: compress.Bzip2, level: 6}
	default:
		return c, false
	}
	return c, true
}

// New returns the format. Its files begin with their first records, from which
// the schema is learned, or at Close.
func New(o Options) (codec.BlockFormat, error) {
	c, ok := compressionOf(o.Compression)
	if !ok {
		return nil, fmt.Errorf("%w: %q; use one of %s", ErrCompression, o.Compression, strings.Join(Compressions(), ", "))
	}
	f := &format{schemas: o.Schemas, codec: c.codec}
	return members.New(members.Options{
		Extension:   ".avro", // the compression is inside the file
		NewEncoder:  func() codec.BlockEncoder { return &rows{schemas: o.Schemas} },
		NewPacker:   c.packer,
		MinBatch:    smallBlock,
		MinGathered: 2 * smallBlock,
		Begin:       f.begin,
		HeadOnly:    true,
		Count:       countBlock,
	}), nil
}

// format is what its files have in common.
type format struct {
	schemas *schema.Schemas
	codec   string // avro.codec in their headers
}
