package compress

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"
)

// snappyEncoder compresses one block of Snappy's own format to the beginning of
// dst, which has room for the worst case.
func snappyEncoder(level int) func(dst, src []byte) []byte {
	switch level {
	case 2:
		return s2.EncodeSnappyBetter
	case 3:
		return s2.EncodeSnappyBest
	}
	return s2.EncodeSnappy
}

// checked packs blocks of Snappy, each with the checksum of its content.
type checked struct {
	encode func(dst, src []byte) []byte
}

func newSnappyChecked(level int) Packer { return checked{snappyEncoder(level)} }

// Append implements Packer.
func (c checked) Append(dst, src []byte) []byte {
	most := s2.MaxEncodedLen(len(src))
	if most < 0 {
		panic(fmt.Sprintf("compress: %d bytes are more than a block of Snappy holds", len(src)))
	}
	at := len(dst)
	dst = slices.Grow(dst, most+crc32.Size)
	dst = dst[:at+len(c.encode(dst[at:at+most], src))]
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(src))
}
