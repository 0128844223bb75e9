package parquet

import (
	"bytes"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// compact is the protocol of a file's headers and its footer
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
var compact thrift.CompactProtocol

// The structs of parquet.thrift are package format's, but for those that follow:
// format has no is_max_value_exact and is_min_value_exact, which say whether a
// bound was cut, and it writes statistics into each page's header, with a count
// of nulls that nobody counted.

// pageHeader is PageHeader.
type pageHeader struct {
	Type       format.PageType                          `thrift:"1,required"`
	Raw        int32                                    `thrift:"2,required"` // uncompressed, without the header
	Packed     int32                                    `thrift:"3,required"` // compressed
	CRC        int32                                    `thrift:"4,required"`
	Data       thrift.Null[dataPageHeader]              `thrift:"5,optional"`
	Dictionary thrift.Null[format.DictionaryPageHeader] `thrift:"7,optional"`
}

// dataPageHeader is DataPageHeader.
type dataPageHeader struct {
	NumValues        int32           `thrift:"1,required"`
	Encoding         format.Encoding `thrift:"2,required"`
	DefinitionLevels format.Encoding `thrift:"3,required"`
	RepetitionLevels format.Encoding `thrift:"4,required"`
}

// rowGroup is RowGroup.
type rowGroup struct {
	Columns    thrift.Slice[columnChunk] `thrift:"1,required"`
	RawSize    int64                     `thrift:"2,required"`
	NumRows    int64                     `thrift:"3,required"`
	FileOffset int64                     `thrift:"5,required"`
	PackedSize int64                     `thrift:"6,required"`
}

// columnChunk is ColumnChunk.
type columnChunk struct {
	FileOffset int64          `thrift:"2,required"`
	MetaData   columnMetaData `thrift:"3,required"`
}

// columnMetaData is ColumnMetaData.
type columnMetaData struct {
	Type             format.Type                            `thrift:"1,required"`
	Encodings        thrift.Slice[format.Encoding]          `thrift:"2,required"`
	Path             thrift.Slice[string]                   `thrift:"3,required"`
	Codec            format.CompressionCodec                `thrift:"4,required"`
	NumValues        int64                                  `thrift:"5,required"`
	RawSize          int64                                  `thrift:"6,required"`
	PackedSize       int64                                  `thrift:"7,required"`
	DataOffset       int64                                  `thrift:"9,required"`
	DictionaryOffset int64                                  `thrift:"11,optional"`
	Statistics       statistics                             `thrift:"12,required"`
	EncodingStats    thrift.Slice[format.PageEncodingStats] `thrift:"13,required"`
}

// statistics is Statistics, whose bounds are there together or not at all.
type statistics struct {
	NullCount int64               `thrift:"3,required"`
	Max       thrift.Null[[]byte] `thrift:"5,optional"`
	Min       thrift.Null[[]byte] `thrift:"6,optional"`
	MaxExact  thrift.Null[bool]   `thrift:"7,optional"`
	MinExact  thrift.Null[bool]   `thrift:"8,optional"`
}

// appendStruct appends a struct of parquet.thrift.
func appendStruct(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	err := thrift.NewEncoder(compact.NewWriter(b)).Encode(v)
	return b.Bytes(), err
}
