// Package compress makes the compressors of all formats but Parquet, and the
// compressed files of row formats as Hadoop and its readers expect them: each
// compression has the framing and the extension by which Hive, Spark, MapReduce
// and `hdfs dfs -text` find its codec.
//
//	gzip    .gz      members one behind the other, as RFC 1952 allows
//	bzip2   .bz2     streams one behind the other
//	snappy  .snappy  Hadoop's block framing, not Snappy's own
//	lz4     .lz4     Hadoop's block framing, not LZ4's own
//	zstd    .zst     one frame, since Hadoop before 3.3 fails on the second
//
// All but zstd are made of pieces that are independent of each other, so they
// are compressed ahead of the file, in parallel. The same rows in the same
// blocks give the same bytes.
//
// New makes a compressor of pieces for formats that have their own files: Avro
// and SequenceFiles.
package compress

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/members"
)

// The compressions. Snappy and LZ4 are in Hadoop's block framing.
const (
	None   = "none"
	Gzip   = "gzip"
	Zstd   = "zstd"
	Snappy = "snappy"
	LZ4    = "lz4"
	Bzip2  = "bzip2"
)

// The compressions that only formats have which name their codec within the
// file: files of rows have no extension for them.
const (
	// Deflate is zlib's format (RFC 1950), Hadoop's DefaultCodec.
	Deflate = "deflate"
	// RawDeflate is RFC 1951 with nothing around it, and SnappyChecked one block
	// of Snappy's own format and then the CRC-32 of what it holds, big-endian:
	// "deflate" and "snappy" of Avro's specification 1.11.
	RawDeflate    = "raw deflate"
	SnappyChecked = "snappy with a checksum"
)

// Names are the compressions that files of rows may have.
func Names() []string { return []string{None, Gzip, Zstd, Snappy, LZ4, Bzip2} }

// Errors that New, Wrap and Check wrap.
var (
	ErrUnknown = errors.New("unknown compression")
	ErrLevel   = errors.New("no such compression level")
)

// compression is what the package knows of one.
type compression struct {
	extension string
	// levels are 1 to levels, cheapest first; usual is the default. 0 levels
	// means that there is nothing to choose.
	levels, usual int
	// minMember is how many bytes of rows are worth a member of a file: on log
	// records it is within about 5 % of what large members make. Smaller costs
	// ratio, larger costs memory in each open file.
	minMember int
	packer    func(level int) Packer
}

// The usual level of gzip is 5: on log records twice as fast as 6 for 6 % more
// bytes. That of zstd is 1, which makes no more bytes of them than 3 and takes
// half the memory, 1 MB in each open file.
func find(name string) (c compression, ok bool) {
	switch name {
	case None:
		return compression{}, true
	case Gzip:
		return compression{".gz", 9, 5, 128 << 10, newGzip}, true
	case Zstd:
		return compression{".zst", 22, 1, 128 << 10, newZstd}, true
	case Snappy:
		return compression{".snappy", 3, 1, 64 << 10, newSnappy}, true
	case LZ4:
		return compression{".lz4", 9, 1, 64 << 10, newLZ4}, true
	case Bzip2:
		return compression{".bz2", 9, 9, 256 << 10, newBzip2}, true
	case Deflate:
		return compression{levels: 9, usual: 5, packer: newDeflate}, true
	case RawDeflate:
		return compression{levels: 9, usual: 5, packer: newRawDeflate}, true
	case SnappyChecked:
		return compression{levels: 3, usual: 1, packer: newSnappyChecked}, true
	}
	return c, false
}

// Check tells whether the compression is known and has the level. Level 0 is
// its default and always there.
func Check(name string, level int) error {
	c, ok := find(name)
	switch {
	case !ok:
		return fmt.Errorf("%w %q: use one of %s", ErrUnknown, name, strings.Join(Names(), ", "))
	case level == 0 || level > 0 && level <= c.levels:
		return nil
	case c.levels == 0:
		return fmt.Errorf("%w: %s has none", ErrLevel, name)
	}
	return fmt.Errorf("%w: %d; %s takes 1 to %d, its default is %d", ErrLevel, level, name, c.levels, c.usual)
}

// Packer compresses whole pieces, each independent of the others. One
// goroutine uses it at a time.
type Packer interface {
	// Append appends to dst what src becomes: a gzip member, a zstd frame, a
	// stream of deflate or bzip2, a checked block of Snappy, or blocks in Hadoop's
	// framing. src isn't empty. It keeps neither slice, and panics if src is more
	// than one piece can hold: 4 GiB of SnappyChecked.
	Append(dst, src []byte) []byte
}

// New returns a packer of any compression but None.
func New(name string, level int) (Packer, error) {
	if err := Check(name, level); err != nil {
		return nil, err
	}
	c, _ := find(name)
	if c.packer == nil {
		return nil, fmt.Errorf("%w: %q compresses nothing", ErrUnknown, name)
	}
	if level == 0 {
		level = c.usual
	}
	return c.packer(level), nil
}

// Headed is a format of rows whose files begin with other rows, such as a
// line of column names.
type Headed interface {
	codec.BlockFormat
	// Header is what a file begins with, before the first block.
	Header() []byte
}

// Wrap returns f, whose blocks are simply put one behind the other, with its
// files compressed. With None it is f itself. Level 0 is the default.
func Wrap(f codec.BlockFormat, name string, level int) (codec.Format, error) {
	if err := Check(name, level); err != nil {
		return nil, err
	}
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("%w for files of rows: %q; use one of %s", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	c, _ := find(name)
	if level == 0 {
		level = c.usual
	}
	var header []byte
	if h, ok := f.(Headed); ok {
		header = h.Header()
	}
	switch name {
	case None:
		return f, nil
	case Zstd:
		return newFrame(f, c, level, header), nil
	}
	return members.New(members.Options{
		Extension:  f.Extension() + c.extension,
		NewEncoder: f.NewBlockEncoder,
		NewPacker:  func() members.Packer { return whole{c.packer(level)} },
		MinBatch:   c.minMember,
		Begin:      func(codec.Meta, *event.Batch) members.File { return members.File{Rows: header} },
	}), nil
}

// whole packs all the rows that it is given into one member.
type whole struct{ Packer }

func (w whole) Pack(dst, rows []byte) ([]byte, int) { return w.Append(dst, rows), len(rows) }
