package avro

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// What BlockEncoder hands to BlockWriter is any number of these, one behind the
// other; it stays within the process:
//
//	schema   u64   the schema's ID
//	packed   u8    1: compressed, one block of the file; 0: records as they are
//	records  u32
//	raw      u32   bytes of the records before compression
//	length   u32   bytes that follow
const blockHeader = 8 + 1 + 4 + 4 + 4

const (
	// largeBlock is how many bytes of records make a block. Java's default is
	// 64,000 bytes; larger compresses a little better with zstd and bzip2.
	largeBlock = 256 << 10
	// smallBlock is how many are too few for a block: the writer gathers them.
	// A chunk that is spread over a hundred buckets gives each some kilobytes.
	smallBlock = 32 << 10
)

var errBlock = errors.New("no block of the Avro encoder")

// block is one of those, decoded.
type block struct {
	schema  uint64
	packed  bool
	records uint32
	raw     uint32
	data    []byte
}

// nextBlock cuts the first block off.
func nextBlock(b []byte) (_ block, rest []byte, err error) {
	if len(b) < blockHeader {
		return block{}, nil, errBlock
	}
	n := int(binary.LittleEndian.Uint32(b[17:]))
	if n > len(b)-blockHeader {
		return block{}, nil, errBlock
	}
	return block{
		schema: binary.LittleEndian.Uint64(b), packed: b[8] == 1,
		records: binary.LittleEndian.Uint32(b[9:]), raw: binary.LittleEndian.Uint32(b[13:]),
		data: b[blockHeader : blockHeader+n],
	}, b[blockHeader+n:], nil
}

// blockEncoder makes blocks ahead of the file.
type blockEncoder struct {
	format *format
	enc    encoder
	buf    []byte
	cuts   []cut
}

// cut is where a block ends in the encoder's buffer.
type cut struct{ end, records int }

// keepBuffer is how much of its buffer an encoder keeps, in bytes.
const keepBuffer = 8 << 20

// Encode implements codec.BlockEncoder.
func (b *blockEncoder) Encode(dst []byte, batch *event.Batch) ([]byte, []codec.Reject) {
	b.enc.use(b.format.schemas.First(batch))
	b.buf, b.cuts = b.buf[:0], b.cuts[:0]
	var rejects []codec.Reject
	last := cut{}
	add := func() {
		b.cuts = append(b.cuts, last)
		last.records = 0
	}
	for _, e := range batch.Events {
		var reason string
		if b.buf, reason = b.enc.record(b.buf, e, batch.Tag); reason != "" {
			rejects = append(rejects, codec.Reject{Event: e, Reason: reason})
			continue
		}
		last.records++
		if begin := last.end; len(b.buf)-begin >= largeBlock {
			last.end = len(b.buf)
			add()
		}
	}
	if last.records > 0 {
		if n := len(b.cuts); n > 0 && len(b.buf)-last.end < smallBlock {
			b.cuts[n-1].records += last.records
			b.cuts[n-1].end = len(b.buf)
		} else {
			last.end = len(b.buf)
			add()
		}
	}
	b.format.schemas.Learn(b.enc.learn())
	dst = b.pack(dst)
	if cap(b.buf) > keepBuffer {
		b.buf = nil
	}
	return dst, rejects
}

func (b *blockEncoder) pack(dst []byte) []byte {
	begin := 0
	for _, c := range b.cuts {
		raw := b.buf[begin:c.end]
		begin = c.end
		at := len(dst)
		dst = slices.Grow(dst, blockHeader+len(raw)/2)
		dst = binary.LittleEndian.AppendUint64(dst, b.enc.schema.ID)
		packed := byte(1)
		if len(raw) < smallBlock {
			packed = 0
		}
		dst = append(dst, packed)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.records))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(raw)))
		dst = append(dst, 0, 0, 0, 0)
		if packed == 1 {
			out, err := b.format.compressor.append(dst, raw)
			if err == nil {
				dst = out
			} else { // the writer compresses it and reports what is wrong
				dst[at+8] = 0
				dst = append(dst, raw...)
			}
		} else {
			dst = append(dst, raw...)
		}
		binary.LittleEndian.PutUint32(dst[at+17:], uint32(len(dst)-at-blockHeader))
	}
	return dst
}
