package parquet

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// The compressions of pages.
const (
	None   = "none"
	Snappy = "snappy"
	Zstd   = "zstd"
	Gzip   = "gzip"
	LZ4Raw = "lz4_raw"
)

// Compressions lists them, the default first.
func Compressions() []string { return []string{Snappy, Zstd, Gzip, LZ4Raw, None} }

// ErrCompression is wrapped by New's error.
var ErrCompression = errors.New("not a compression of Parquet files")

// compressor compresses pages. It is safe for concurrent use: what has a state
// is lent from a pool.
type compressor struct {
	codec format.CompressionCodec
	// encode replaces what dst holds, and returns it as it grew.
	encode func(dst, src []byte) ([]byte, error)
}

// newCompressor takes parquet-go's compressions, but for two in which ours are
// several times as fast on small pages (docs/dependencies.md).
func newCompressor(name string) (*compressor, error) {
	var theirs compress.Codec
	switch name {
	case Snappy:
		return &compressor{format.Snappy, encodeSnappy}, nil
	case LZ4Raw:
		return &compressor{format.Lz4Raw, new(lz4Pool).encode}, nil
	case None:
		theirs = new(uncompressed.Codec)
	case Gzip:
		theirs = &gzip.Codec{Level: gzip.DefaultCompression}
	case Zstd:
		theirs = new(zstd.Codec)
	default:
		return nil, fmt.Errorf("%w: %q; use one of %s", ErrCompression, name, strings.Join(Compressions(), ", "))
	}
	return &compressor{theirs.CompressionCodec(), theirs.Encode}, nil
}

// room returns n bytes, dst's if it has that many.
func room(dst []byte, n int) []byte {
	if cap(dst) < n {
		return make([]byte, n)
	}
	return dst[:n]
}

func encodeSnappy(dst, src []byte) ([]byte, error) {
	most := s2.MaxEncodedLen(len(src))
	if most < 0 {
		return dst[:0], fmt.Errorf("%d bytes are too many for snappy", len(src))
	}
	return s2.EncodeSnappy(room(dst, most), src), nil
}

// lz4Pool lends the tables of lz4, 128 KiB each.
type lz4Pool struct{ pool sync.Pool }

func (p *lz4Pool) encode(dst, src []byte) ([]byte, error) {
	z, ok := p.pool.Get().(*lz4.Compressor)
	if !ok {
		z = new(lz4.Compressor)
	}
	defer p.pool.Put(z)
	dst = room(dst, lz4.CompressBlockBound(len(src)))
	n, err := z.CompressBlock(src, dst)
	return dst[:n], err
}
