package sequencefile

import (
	"encoding/binary"

	"github.com/out-hdfs/out_hdfs/codec/compress"
)

// records packs records one behind the other: a member is as many as lie
// between two sync markers.
type records struct {
	pack  compress.Packer // of each value; nil leaves it as it is
	bytes bool
	value []byte // scratch
}

// Pack implements members.Packer. A record is
//
//	length      4 bytes: of key and value
//	key length  4 bytes
//	key, value
func (r *records) Pack(dst, rows []byte) (_ []byte, used int) {
	for used < len(rows) && used < syncInterval {
		key, value, size := row(rows[used:])
		used += size
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 8)
		dst = append(dst, key...)
		if r.pack == nil {
			dst = appendValue(dst, value, r.bytes)
		} else {
			r.value = appendValue(r.value[:0], value, r.bytes)
			dst = r.pack.Append(dst, r.value)
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-8))
	}
	if cap(r.value) > keepBuffer {
		r.value = nil
	}
	return dst, used
}

// blocks packs blocks of many records.
type blocks struct {
	pack  compress.Packer
	bytes bool
	// The buffers of a block.
	keyLengths, keys, valueLengths, values []byte
	packed                                 []byte // scratch
}

// Pack implements members.Packer. A block is the number of records and then
// each buffer, compressed, behind its length.
func (b *blocks) Pack(dst, rows []byte) (_ []byte, used int) {
	b.keyLengths, b.keys = b.keyLengths[:0], b.keys[:0]
	b.valueLengths, b.values = b.valueLengths[:0], b.values[:0]
	n := int64(0)
	for used < len(rows) && (n == 0 || len(b.keys)+len(b.values) < maxBlock) {
		key, value, size := row(rows[used:])
		used += size
		n++
		b.keyLengths = appendVInt(b.keyLengths, int64(len(key)))
		b.keys = append(b.keys, key...)
		before := len(b.values)
		b.values = appendValue(b.values, value, b.bytes)
		b.valueLengths = appendVInt(b.valueLengths, int64(len(b.values)-before))
	}
	dst = appendVInt(dst, n)
	for _, buffer := range [][]byte{b.keyLengths, b.keys, b.valueLengths, b.values} {
		b.packed = b.pack.Append(b.packed[:0], buffer)
		dst = appendVInt(dst, int64(len(b.packed)))
		dst = append(dst, b.packed...)
	}
	b.shrink()
	return dst, used
}

// keepBuffer is how much of a buffer a packer keeps, in bytes: more than a
// block has unless a single record is that large.
const keepBuffer = 2 << 20

func (b *blocks) shrink() {
	if cap(b.values) > keepBuffer {
		b.values = nil
	}
	if cap(b.packed) > keepBuffer {
		b.packed = nil
	}
}
