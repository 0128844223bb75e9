package members

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// A block is encoded batches one behind the other, so that several calls of
// Encode may append to one block. A batch is
//
//	schema   8 bytes  of its rows, as in File
//	records  8 bytes  how many
//	rows     8 bytes  how many bytes of rows they are
//	length   8 bytes  of the content
//	kind     1 byte   the content is rows as they are, or members
//	content
//
// and each member
//
//	rows     8 bytes  how many bytes of rows it stands for
//	length   8 bytes  of the content
//	content
//
// with numbers in big-endian. Blocks live in memory between an encoder and a
// writer of one format; their layout may change with every version.
const (
	batchHead  = 4*8 + 1
	memberHead = 2 * 8

	kindRows    = 0
	kindMembers = 1
)

// batch is an encoded batch.
type batch struct {
	schema  uint64
	records uint64
	rows    uint64 // bytes
	members bool   // the content is members
	content []byte
}

// errBlock is of a block that no encoder of the format can have made.
var errBlock = errors.New("bug: the block wasn't made by this format's encoder")

// nextBatch cuts the first batch off a block.
func nextBatch(block []byte) (b batch, rest []byte, err error) {
	if len(block) < batchHead {
		return b, nil, errBlock
	}
	number := func(i int) uint64 { return binary.BigEndian.Uint64(block[8*i:]) }
	b = batch{schema: number(0), records: number(1), rows: number(2)}
	size, kind := number(3), block[batchHead-1]
	block = block[batchHead:]
	if size > uint64(len(block)) || kind > kindMembers || kind == kindRows && b.rows != size {
		return b, nil, errBlock
	}
	b.members, b.content = kind == kindMembers, block[:size:size]
	return b, block[size:], nil
}

// nextMember cuts the first member off a batch's content.
func nextMember(members []byte) (rows uint64, content, rest []byte, err error) {
	if len(members) < memberHead {
		return 0, nil, nil, errBlock
	}
	rows = binary.BigEndian.Uint64(members)
	size := binary.BigEndian.Uint64(members[8:])
	if members = members[memberHead:]; size > uint64(len(members)) {
		return 0, nil, nil, errBlock
	}
	return rows, members[:size:size], members[size:], nil
}

// check demands that a block is sound and holds so many records, and that its
// rows have the schema.
func check(block []byte, records int, schema uint64) error {
	total := uint64(0)
	for len(block) > 0 {
		var b batch
		var err error
		if b, block, err = nextBatch(block); err != nil {
			return err
		}
		if b.schema != schema {
			return codec.ErrOtherSchema
		}
		total += b.records
		rows := uint64(0)
		for members := b.content; b.members && len(members) > 0; {
			var n uint64
			if n, _, members, err = nextMember(members); err != nil {
				return err
			}
			rows += n
		}
		if b.members && rows != b.rows {
			return errBlock
		}
	}
	if total != uint64(records) {
		return fmt.Errorf("%w: it holds %d records", errBlock, total)
	}
	return nil
}

// encoder makes blocks.
type encoder struct {
	rows     codec.BlockEncoder
	schema   SchemaEncoder // rows, if they have a schema
	packer   Packer
	minBatch int
	scratch  []byte // the members of the batch at hand
}

// keepScratch is how much of its scratch memory an encoder keeps, in bytes: the
// members of a chunk of Fluent Bit's 2 MB, uncompressed at worst.
const keepScratch = 4 << 20

// Encode appends the batch's block. The rows are made where the block ends up,
// so only members are copied.
func (e *encoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	start := len(dst)
	dst = slices.Grow(dst, batchHead)[:start+batchHead]
	dst, rejects := e.rows.Encode(dst, b)
	rows := dst[start+batchHead:]
	if len(rows) == 0 {
		return dst[:start], rejects
	}
	head := batch{records: uint64(len(b.Events) - len(rejects)), rows: uint64(len(rows))}
	if e.schema != nil {
		head.schema = e.schema.Schema()
	}
	if len(rows) >= e.minBatch {
		head.members = true
		dst = append(dst[:start+batchHead], e.pack(rows)...)
		if cap(e.scratch) > keepScratch {
			e.scratch = nil
		}
	}
	head.put(dst[start:])
	return dst, rejects
}

// pack makes members of rows. They are valid until the next call.
func (e *encoder) pack(rows []byte) []byte {
	e.scratch = e.scratch[:0]
	for len(rows) > 0 {
		at := len(e.scratch)
		e.scratch = slices.Grow(e.scratch, memberHead)[:at+memberHead]
		var used int
		e.scratch, used = e.packer.Pack(e.scratch, rows)
		binary.BigEndian.PutUint64(e.scratch[at:], uint64(used))
		binary.BigEndian.PutUint64(e.scratch[at+8:], uint64(len(e.scratch)-at-memberHead))
		rows = rows[used:]
	}
	return e.scratch
}

// put writes the batch's head to the beginning of dst, behind which its content
// lies.
func (b batch) put(dst []byte) {
	for i, n := range [...]uint64{b.schema, b.records, b.rows, uint64(len(dst) - batchHead)} {
		binary.BigEndian.PutUint64(dst[8*i:], n)
	}
	dst[batchHead-1] = kindRows
	if b.members {
		dst[batchHead-1] = kindMembers
	}
}
