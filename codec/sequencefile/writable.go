package sequencefile

import (
	"encoding/binary"
	"math/bits"
)

// appendVInt appends v as Hadoop's WritableUtils.writeVLong: from -112 to 127
// in one byte, else its size and sign in one and then the bytes of v, or of its
// complement, without leading zeros.
func appendVInt(dst []byte, v int64) []byte {
	if v >= -112 && v <= 127 {
		return append(dst, byte(v))
	}
	head := -112
	if v < 0 {
		v, head = ^v, -120
	}
	n := (bits.Len64(uint64(v)) + 7) / 8
	dst = append(dst, byte(head-n))
	for n--; n >= 0; n-- {
		dst = append(dst, byte(v>>(8*n)))
	}
	return dst
}

// appendText appends s as Text.writeString does.
func appendText[T string | []byte](dst []byte, s T) []byte {
	return append(appendVInt(dst, int64(len(s))), s...)
}

// appendValue appends a value as Text or BytesWritable write themselves.
func appendValue(dst, value []byte, bytes bool) []byte {
	if bytes {
		return append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
	}
	return appendText(dst, value)
}
