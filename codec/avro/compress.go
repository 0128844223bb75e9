package avro

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync"

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// The compressions that Avro's specification names.
const (
	None    = "none"
	Snappy  = "snappy"
	Deflate = "deflate"
	Zstd    = "zstd"
	Bzip2   = "bzip2"
)

// Compressions lists them, the default first. Java's Avro reads them all;
// snappy and deflate are read everywhere.
func Compressions() []string { return []string{Snappy, Deflate, Zstd, Bzip2, None} }

// ErrCompression is wrapped by New's error.
var ErrCompression = errors.New("not a compression of Avro files")

// compressor compresses blocks. It is safe for concurrent use: what has a state
// is lent from the pool.
type compressor struct {
	name   string // avro.codec in the file's header
	append func(dst, src []byte) ([]byte, error)
	pool   sync.Pool
}

func newCompressor(name string) (*compressor, error) {
	c := &compressor{name: name}
	switch name {
	case None:
		c.name, c.append = "null", func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }
	case Snappy:
		c.append = appendSnappy
	case Deflate:
		c.append = c.stream(func() (resetter, error) {
			w, err := flate.NewWriter(nil, flate.DefaultCompression)
			return deflater{w}, err
		})
	case Bzip2:
		c.append = c.stream(func() (resetter, error) { return bzip2.NewWriter(io.Discard, nil) })
	case Zstd:
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(0), zstd.WithWindowSize(512<<10))
		if err != nil {
			return nil, fmt.Errorf("make a zstd encoder: %w", err)
		}
		c.name = "zstandard"
		c.append = func(dst, src []byte) ([]byte, error) { return enc.EncodeAll(src, dst), nil }
	default:
		return nil, fmt.Errorf("%w: %q; use one of %s", ErrCompression, name, strings.Join(Compressions(), ", "))
	}
	return c, nil
}

// appendSnappy compresses as one Snappy block without a frame, and adds the
// CRC-32 of what was compressed, big-endian (Avro 1.11, "snappy").
func appendSnappy(dst, src []byte) ([]byte, error) {
	from := len(dst)
	most := s2.MaxEncodedLen(len(src))
	if most < 0 {
		return dst, fmt.Errorf("a block of %d bytes is too large for snappy", len(src))
	}
	if cap(dst)-from < most {
		dst = append(make([]byte, 0, from+most+crc32.Size), dst...)
	}
	dst = dst[:from+len(s2.EncodeSnappy(dst[from:from+most], src))]
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(src)), nil
}

// resetter is a compressing stream that can be used again.
type resetter interface {
	io.WriteCloser
	Reset(io.Writer) error
}

// deflater makes a resetter of a deflate stream.
type deflater struct{ *flate.Writer }

func (d deflater) Reset(w io.Writer) error {
	d.Writer.Reset(w)
	return nil
}

// stream compresses with streams that are lent from the pool.
func (c *compressor) stream(make func() (resetter, error)) func(dst, src []byte) ([]byte, error) {
	return func(dst, src []byte) (_ []byte, err error) {
		s, ok := c.pool.Get().(resetter)
		if !ok {
			if s, err = make(); err != nil {
				return dst, fmt.Errorf("make a compressor: %w", err)
			}
		}
		out := bytes.NewBuffer(dst)
		if err = s.Reset(out); err == nil {
			_, err = s.Write(src)
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			return dst, fmt.Errorf("compress %d bytes: %w", len(src), err)
		}
		c.pool.Put(s)
		return out.Bytes(), nil
	}
}
