// Package sequencefile writes Hadoop's SequenceFile, version 6: the key of each
// record is the event's time as a LongWritable in milliseconds since 1970, the
// value a line of another format, without its newline, as a Text or
// BytesWritable. An event without a time has its arrival's.
//
//	none    records as they are
//	record  each value compressed by itself
//	block   many records compressed together, keys and values apart
//
// Records and blocks are made ahead of the file, whatever file they come to:
// the sync marker, which each file has its own of, is put between them as they
// are written. A file's metadata name its writer and part.
//
// The layout is that of org.apache.hadoop.io.SequenceFile and frozen.
package sequencefile

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/members"
)

// Type is what is compressed together, by Hadoop's names
// (io.seqfile.compression.type).
type Type string

// The types. Without compression it doesn't matter.
const (
	Record Type = "record"
	Block  Type = "block"
)

// Options say what a file is made of.
type Options struct {
	// NewLines makes the encoder of the values, which makes one line of each
	// event that it doesn't reject.
	NewLines    func() codec.BlockEncoder
	Compression string // see Compressions
	Level       int    // 0 is the compression's default
	Type        Type
	Bytes       bool // values are BytesWritable, not Text
}

// Compressions are the names of Options.Compression, the default first.
func Compressions() []string {
	return []string{compress.Deflate, compress.None, compress.Gzip, compress.Zstd, compress.Snappy, compress.LZ4, compress.Bzip2}
}

// codecClass is the Hadoop class that reads a compression.
func codecClass(compression string) (class string, ok bool) {
	switch compression {
	case compress.Deflate:
		class = "DefaultCodec"
	case compress.Gzip:
		class = "GzipCodec"
	case compress.Zstd:
		class = "ZStandardCodec"
	case compress.Snappy:
		class = "SnappyCodec"
	case compress.LZ4:
		class = "Lz4Codec"
	case compress.Bzip2:
		class = "BZip2Codec"
	default:
		return "", false
	}
	return "org.apache.hadoop.io.compress." + class, true
}

// Errors that New wraps.
var (
	ErrCompression = errors.New("a SequenceFile can't be compressed so")
	ErrType        = errors.New("unknown type of SequenceFile")
)

const (
	// minBlock is how many bytes of rows are worth a block of their own, and
	// maxBlock how many it holds: Hadoop's io.seqfile.compress.blocksize.
	minBlock = 128 << 10
	maxBlock = 1000000
	// syncInterval is how far apart sync markers lie between records, at which
	// readers may begin in the middle: SequenceFile.SYNC_INTERVAL.
	syncInterval = 100 << 10
)

// New returns the format.
func New(o Options) (codec.BlockFormat, error) {
	class, known := codecClass(o.Compression)
	switch {
	case o.Compression != compress.None && !known:
		return nil, fmt.Errorf("%w: %q", ErrCompression, o.Compression)
	case o.Type != Record && o.Type != Block:
		return nil, fmt.Errorf("%w: %q; use %s or %s", ErrType, o.Type, Block, Record)
	}
	if err := compress.Check(o.Compression, o.Level); err != nil {
		return nil, err
	}
	m := members.Options{
		Extension:  ".seq",
		NewEncoder: func() codec.BlockEncoder { return &encoder{lines: o.NewLines()} },
	}
	block := known && o.Type == Block
	spacing := int64(syncInterval)
	switch {
	case block:
		m.MinBatch, spacing, m.Count = minBlock, 0, countBlock
		m.NewPacker = func() members.Packer { return &blocks{pack: o.packer(), bytes: o.Bytes} }
	case known:
		m.Count = countRecords
		m.NewPacker = func() members.Packer { return &records{pack: o.packer(), bytes: o.Bytes} }
	default:
		m.Count = countRecords
		m.NewPacker = func() members.Packer { return &records{bytes: o.Bytes} }
	}
	m.Begin = func(meta codec.Meta, _ *event.Batch) members.File {
		sync := syncMarker(meta)
		return members.File{
			Head:    append(o.head(meta, class, block), sync...),
			Before:  append([]byte{0xff, 0xff, 0xff, 0xff}, sync...),
			Spacing: spacing,
		}
	}
	return members.New(m), nil
}

// packer makes a packer of what New has checked.
func (o *Options) packer() compress.Packer {
	p, err := compress.New(o.Compression, o.Level)
	if err != nil {
		panic("sequencefile: " + err.Error())
	}
	return p
}

// head is a file's header up to the sync marker.
func (o *Options) head(m codec.Meta, class string, block bool) []byte {
	value := "org.apache.hadoop.io.Text"
	if o.Bytes {
		value = "org.apache.hadoop.io.BytesWritable"
	}
	b := append([]byte("SEQ"), 6)
	b = appendText(b, "org.apache.hadoop.io.LongWritable")
	b = appendText(b, value)
	b = append(b, flag(class != ""), flag(block))
	if class != "" {
		b = appendText(b, class)
	}
	metadata := [][2]string{
		{"out_hdfs.created", m.Created.UTC().Format(time.RFC3339Nano)},
		{"out_hdfs.part", strconv.FormatUint(m.Part, 10)},
		{"out_hdfs.writer_id", m.WriterID},
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(metadata)))
	for _, pair := range metadata {
		b = appendText(appendText(b, pair[0]), pair[1])
	}
	return b
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// syncMarker is 16 bytes that no record has by accident. The nanoseconds of the
// file's creation are in it, so nobody can send a record that has them.
func syncMarker(m codec.Meta) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d", m.WriterID, m.Part, m.Created.UnixNano()))
	return sum[:16]
}
