package compress

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/pierrec/lz4/v4"
)

// Hadoop's BlockCompressorStream writes blocks of
//
//	raw length         4 bytes, big-endian
//	compressed length  4 bytes, big-endian
//	compressed data
//
// A reader takes a raw length of zero for the end of the file, so none is ever
// written. What a block holds is bounded by the reader's buffer of 256 KiB:
// SnappyCodec and Lz4Codec write this much at most, from which the compressed
// data, in the worst case, still fits.
const (
	snappyBlock = 218421
	lz4Block    = 261100
)

// blocks packs blocks in Hadoop's framing.
type blocks struct {
	largest int
	// bound is how long the compressed form of n bytes is at worst.
	bound func(n int) int
	// compress compresses src to the beginning of dst, which has room for the
	// worst case, and returns its length.
	compress func(dst, src []byte) int
}

// Append implements Packer. It cuts src into equal blocks, since a small one
// at the end would be a poor one.
func (p *blocks) Append(dst, src []byte) []byte {
	count := (len(src) + p.largest - 1) / p.largest
	for ; count > 0; count-- {
		raw := src[:(len(src)+count-1)/count]
		src = src[len(raw):]
		at := len(dst) + 8
		dst = slices.Grow(dst, 8+p.bound(len(raw)))
		n := p.compress(dst[at:at+p.bound(len(raw))], raw)
		dst = dst[:at+n]
		binary.BigEndian.PutUint32(dst[at-8:], uint32(len(raw)))
		binary.BigEndian.PutUint32(dst[at-4:], uint32(n))
	}
	return dst
}

func newSnappy(level int) Packer {
	encode := snappyEncoder(level)
	return &blocks{snappyBlock, s2.MaxEncodedLen, func(dst, src []byte) int { return len(encode(dst, src)) }}
}

func newLZ4(level int) Packer {
	var compress func(src, dst []byte) (int, error)
	if level == 1 {
		compress = new(lz4.CompressorCCompat).CompressBlock
	} else {
		// lz4.Level1 is 1<<9, and each further level one bit more.
		compress = (&lz4.CompressorHC{Level: lz4.CompressionLevel(1 << (8 + level))}).CompressBlock
	}
	return &blocks{lz4Block, lz4.CompressBlockBound, func(dst, src []byte) int {
		return must(compress(src, dst))
	}}
}
