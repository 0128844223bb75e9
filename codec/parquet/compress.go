package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
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
// is lent from the pool.
type compressor struct {
	codec  format.CompressionCodec
	append func(dst, src []byte) ([]byte, error)
	pool   sync.Pool
}

func newCompressor(name string) (*compressor, error) {
	c := &compressor{}
	switch name {
	case None:
		c.append = func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }
	case Snappy:
		c.codec, c.append = format.Snappy, appendSnappy
	case Gzip:
		c.codec, c.append = format.Gzip, c.gzip
	case Zstd:
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(256<<10))
		if err != nil {
			return nil, fmt.Errorf("make a zstd encoder: %w", err)
		}
		c.codec, c.append = format.Zstd, func(dst, src []byte) ([]byte, error) { return enc.EncodeAll(src, dst), nil }
	case LZ4Raw:
		c.codec, c.append = format.Lz4Raw, c.lz4
	default:
		return nil, fmt.Errorf("%w: %q; use one of %s", ErrCompression, name, strings.Join(Compressions(), ", "))
	}
	return c, nil
}

// room returns dst with n bytes more to write to.
func room(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		dst = append(make([]byte, 0, len(dst)+n), dst...)
	}
	return dst[:len(dst)+n]
}

func appendSnappy(dst, src []byte) ([]byte, error) {
	from, most := len(dst), s2.MaxEncodedLen(len(src))
	if most < 0 {
		return dst, fmt.Errorf("a page of %d bytes is too large for snappy", len(src))
	}
	dst = room(dst, most)
	return dst[:from+len(s2.EncodeSnappy(dst[from:], src))], nil
}

func (c *compressor) lz4(dst, src []byte) ([]byte, error) {
	z, ok := c.pool.Get().(*lz4.Compressor)
	if !ok {
		z = new(lz4.Compressor)
	}
	defer c.pool.Put(z)
	from := len(dst)
	dst = room(dst, lz4.CompressBlockBound(len(src)))
	n, err := z.CompressBlock(src, dst[from:])
	if err != nil {
		return dst[:from], fmt.Errorf("compress %d bytes: %w", len(src), err)
	}
	return dst[:from+n], nil
}

func (c *compressor) gzip(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	z, ok := c.pool.Get().(*gzip.Writer)
	if !ok {
		z = gzip.NewWriter(out)
	} else {
		z.Reset(out)
	}
	defer c.pool.Put(z)
	_, err := z.Write(src)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return dst, fmt.Errorf("compress %d bytes: %w", len(src), err)
	}
	return out.Bytes(), nil
}
