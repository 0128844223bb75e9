package codectest

import (
	"bytes"
	stdbzip2 "compress/bzip2"
	stdflate "compress/flate"
	stdgzip "compress/gzip"
	stdzlib "compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/out-hdfs/out_hdfs/codec/compress"
)

// Decompress reads all of a compression that package compress makes, with the
// standard library where it can.
func Decompress(name string, b []byte) ([]byte, error) {
	switch name {
	case compress.None:
		return b, nil
	case compress.Gzip:
		return readAll(stdgzip.NewReader(bytes.NewReader(b)))
	case compress.Deflate:
		return readAll(stdzlib.NewReader(bytes.NewReader(b)))
	case compress.RawDeflate:
		return io.ReadAll(stdflate.NewReader(bytes.NewReader(b)))
	case compress.Bzip2:
		return io.ReadAll(stdbzip2.NewReader(bytes.NewReader(b)))
	case compress.Zstd:
		r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	case compress.Snappy:
		return unblock(b, func(dst, src []byte) (int, error) {
			out, err := snappy.Decode(nil, src)
			return copy(dst, out), err
		})
	case compress.SnappyChecked:
		return unchecked(b)
	case compress.LZ4:
		return unblock(b, func(dst, src []byte) (int, error) { return lz4.UncompressBlock(src, dst) })
	}
	return nil, fmt.Errorf("no reader of %s", name)
}

func readAll(r io.Reader, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// unchecked reads a block of Snappy with the checksum behind it.
func unchecked(b []byte) ([]byte, error) {
	if len(b) < crc32.Size {
		return nil, io.ErrUnexpectedEOF
	}
	end := len(b) - crc32.Size
	out, err := snappy.Decode(nil, b[:end])
	if err == nil && crc32.ChecksumIEEE(out) != binary.BigEndian.Uint32(b[end:]) {
		err = errors.New("the checksum is that of other bytes")
	}
	return out, err
}

var errFraming = errors.New("not what Hadoop's BlockDecompressorStream reads")

// unblock reads Hadoop's framing as its BlockDecompressorStream does, whose
// buffers hold 256 KiB.
func unblock(file []byte, decode func(dst, src []byte) (int, error)) (out []byte, err error) {
	const buffer = 256 << 10
	for len(file) > 0 {
		if len(file) < 8 {
			return nil, errFraming
		}
		raw, size := binary.BigEndian.Uint32(file), binary.BigEndian.Uint32(file[4:])
		if file = file[8:]; raw == 0 || raw > buffer || size > buffer || int(size) > len(file) {
			return nil, errFraming
		}
		block := make([]byte, raw)
		if n, err := decode(block, file[:size]); err != nil || n != int(raw) {
			return nil, errors.Join(errFraming, err)
		}
		out, file = append(out, block...), file[size:]
	}
	return out, nil
}
