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

// readVInt is the inverse of appendVInt. size is how many bytes it has, 0 if b
// begins with none.
func readVInt(b []byte) (v int64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	head := int8(b[0])
	if head >= -112 {
		return int64(head), 1
	}
	n, negative := -112-int(head), head < -120
	if negative {
		n -= 8
	}
	if size = 1 + n; size > len(b) {
		return 0, 0
	}
	for _, c := range b[1:size] {
		v = v<<8 | int64(c)
	}
	if negative {
		v = ^v
	}
	return v, size
}
