package avro

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/members"
)

// A file is (Avro 1.11, "Object Container Files")
//
//	file   := "Obj" 1 metadata:map<bytes> marker[16] block*
//	block  := records:long length:long data marker[16]

// begin settles a file's schema and makes its header.
func (f *format) begin(m codec.Meta, first *event.Batch) members.File {
	s := f.schemas.Begin(first)
	var marker [16]byte
	_, _ = rand.Read(marker[:]) // never fails
	pairs := []struct{ key, value string }{
		{"avro.schema", string(s.Text)},
		{"avro.codec", f.codec},
		{"out_hdfs.writer_id", m.WriterID},
		{"out_hdfs.part", strconv.FormatUint(m.Part, 10)},
		{"out_hdfs.created", m.Created.UTC().Format(time.RFC3339Nano)},
		{"out_hdfs.schema_id", fmt.Sprintf("%016x", s.ID)},
	}
	head := appendLong([]byte("Obj\x01"), int64(len(pairs)))
	for _, p := range pairs {
		head = appendText(head, []byte(p.key))
		head = appendText(head, []byte(p.value))
	}
	return members.File{
		Head: append(append(head, 0), marker[:]...), After: marker[:],
		Schema: s.ID, Encoder: &rows{schemas: f.schemas, file: s},
	}
}

// blocks packs a file's blocks, but for the marker.
type blocks struct {
	compressor compress.Packer // nil leaves the records as they are
	joined     []byte          // scratch: the records of small groups
	packed     []byte          // scratch
}

// packer makes a packer of blocks.
func (c compression) packer() members.Packer {
	if c.name == compress.None {
		return &blocks{}
	}
	p, err := compress.New(c.name, c.level)
	if err != nil {
		panic("avro: " + err.Error())
	}
	return &blocks{compressor: p}
}

// Pack implements members.Packer: a block of one group, or of several as long
// as they are small.
func (b *blocks) Pack(dst, rows []byte) (_ []byte, used int) {
	n, records, used := nextGroup(rows)
	if used < len(rows) && len(records) < largeBlock {
		b.joined = b.joined[:0]
		for n, used = 0, 0; used < len(rows) && len(b.joined) < largeBlock; {
			more, content, size := nextGroup(rows[used:])
			b.joined = append(b.joined, content...)
			n, used = n+more, used+size
		}
		records = b.joined
	}
	dst = appendLong(dst, n)
	if b.compressor == nil {
		dst = appendText(dst, records)
	} else {
		b.packed = b.compressor.Append(b.packed[:0], records)
		dst = appendText(dst, b.packed)
	}
	if cap(b.joined) > keepBlock {
		b.joined = nil
	}
	if cap(b.packed) > keepBlock {
		b.packed = nil
	}
	return dst, used
}

// keepBlock is how much of a buffer a packer keeps, in bytes: more than a block
// has unless a single record is that large.
const keepBlock = 2 * largeBlock

// broken is the count of what is no block: no file that has one can come to the
// right count.
const broken = -1 << 48

// countBlock is the number of records that a block begins with.
func countBlock(block []byte) int64 {
	n, size := binary.Varint(block)
	if size <= 0 || n < 0 {
		return broken
	}
	return n
}
