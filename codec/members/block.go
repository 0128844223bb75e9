package members

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// A block is pieces one behind the other, so that several calls of Encode may
// append to one block. A piece is a head and its content:
//
//	kind     one byte: content is rows, or one member
//	rows     8 bytes, big-endian: how many bytes of rows it stands for
//	content  8 bytes, big-endian: its length
//
// Blocks live in memory between an encoder and a writer of one format; their
// layout may change with every version.
const (
	pieceHead = 1 + 8 + 8

	pieceRows   = 0
	pieceMember = 1
)

type piece struct {
	member  bool
	rows    int // bytes
	content []byte
}

var errBlock = errors.New("bug: the block wasn't made by this format's encoder")

// next cuts the first piece off a block.
func next(block []byte) (p piece, rest []byte, err error) {
	if len(block) < pieceHead {
		return p, nil, errBlock
	}
	rows, size := binary.BigEndian.Uint64(block[1:]), binary.BigEndian.Uint64(block[9:])
	block, kind := block[pieceHead:], block[0]
	if size > uint64(len(block)) || kind > pieceMember || kind == pieceRows && rows != size {
		return p, nil, errBlock
	}
	return piece{member: kind == pieceMember, rows: int(rows), content: block[:size:size]}, block[size:], nil
}

// seal writes the head of the piece that dst ends with, whose head's room is
// at dst[at].
func seal(dst []byte, at int, kind byte, rows int) {
	dst[at] = kind
	binary.BigEndian.PutUint64(dst[at+1:], uint64(rows))
	binary.BigEndian.PutUint64(dst[at+9:], uint64(len(dst)-at-pieceHead))
}

type encoder struct {
	rows    codec.BlockEncoder
	packer  Packer
	least   int
	scratch []byte // pieces of the members of the share at hand
}

// keepScratch is how much of its scratch memory an encoder keeps, in bytes: the
// members of a chunk of Fluent Bit's 2 MB, uncompressed at worst.
const keepScratch = 4 << 20

// Encode appends the batch's block. The rows are made where the block ends up,
// so only members are copied.
func (e *encoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	start := len(dst)
	dst = slices.Grow(dst, pieceHead)[:start+pieceHead]
	dst, rejects := e.rows.Encode(dst, b)
	rows := dst[start+pieceHead:]
	switch {
	case len(rows) == 0:
		return dst[:start], rejects
	case len(rows) < e.least:
		seal(dst, start, pieceRows, len(rows))
		return dst, rejects
	}
	e.scratch = e.scratch[:0]
	for len(rows) > 0 {
		at := len(e.scratch)
		e.scratch = slices.Grow(e.scratch, pieceHead)[:at+pieceHead]
		var used int
		e.scratch, used = e.packer.Pack(e.scratch, rows)
		seal(e.scratch, at, pieceMember, used)
		rows = rows[used:]
	}
	dst = append(dst[:start], e.scratch...)
	if cap(e.scratch) > keepScratch {
		e.scratch = nil
	}
	return dst, rejects
}
