package avro

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/members"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Records travel to their file in groups, each of which is at most one block of
// the file:
//
//	records  4 bytes, little-endian: how many
//	length   4 bytes, little-endian: of what follows
//	the records, encoded
const groupHead = 4 + 4

const (
	// largeBlock is how many bytes of records make a block. Java's default is
	// 64,000 bytes; larger compresses a little better with zstd and bzip2.
	largeBlock = 256 << 10
	// smallBlock is how many are too few for a block: the writer gathers them.
	// A chunk that is spread over a hundred buckets gives each some kilobytes.
	smallBlock = 32 << 10
)

// A record that Java can't have in memory is rejected: its arrays have up to
// 2^31 - 1 elements.
const (
	maxRecord = math.MaxInt32
	tooLong   = "the record has more than 2 GiB"
)

// rows makes groups of records.
type rows struct {
	schemas *schema.Schemas
	file    *schema.Schema // of the file that they are for; nil takes the latest
	encoder encoder
}

var _ members.SchemaEncoder = (*rows)(nil)

// keepBuffer is how much of its buffer an encoder keeps, in bytes.
const keepBuffer = 8 << 20

// Schema implements members.SchemaEncoder.
func (r *rows) Schema() uint64 { return r.encoder.schema.ID }

// Buffered implements members.SchemaEncoder.
func (r *rows) Buffered() int64 { return r.encoder.memory() }

// Encode implements codec.BlockEncoder.
func (r *rows) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	if r.file != nil {
		r.encoder.use(r.file)
	} else {
		r.encoder.use(r.schemas.First(b))
	}
	var rejects []codec.Reject
	g := beginGroup(&dst, -1)
	for _, e := range b.Events {
		start := len(dst)
		var reason string
		if dst, reason = r.encoder.record(dst, e, b); reason == "" && len(dst)-start > maxRecord {
			dst, reason = dst[:start], tooLong
		}
		if reason != "" {
			rejects = append(rejects, codec.Reject{Event: e, Reason: reason})
			continue
		}
		if g.records++; g.size(dst) >= largeBlock {
			g.end(dst)
			g = beginGroup(&dst, g.at)
		}
	}
	dst = g.endLast(dst)
	r.schemas.Learn(r.encoder.learn())
	return dst, rejects
}

// group is a group that is being made.
type group struct {
	at      int // where its head is
	before  int // where that of the batch's group before it is, -1 if there is none
	records uint32
}

func beginGroup(dst *[]byte, before int) group {
	g := group{at: len(*dst), before: before}
	*dst = slices.Grow(*dst, groupHead)[:g.at+groupHead]
	return g
}

// size is how many bytes of records the group has, with which dst ends.
func (g group) size(dst []byte) int { return len(dst) - g.at - groupHead }

func (g group) end(dst []byte) {
	binary.LittleEndian.PutUint32(dst[g.at:], g.records)
	binary.LittleEndian.PutUint32(dst[g.at+4:], uint32(g.size(dst)))
}

// endLast ends the last group of a batch. One that is too small for a block
// joins the group before it.
func (g group) endLast(dst []byte) []byte {
	switch {
	case g.records == 0:
		return dst[:g.at]
	case g.before < 0 || g.size(dst) >= smallBlock:
		g.end(dst)
		return dst
	}
	before := group{at: g.before, records: binary.LittleEndian.Uint32(dst[g.before:]) + g.records}
	dst = append(dst[:g.at], dst[g.at+groupHead:]...)
	before.end(dst)
	return dst
}

// nextGroup is the group that rows begin with, and how long it is.
func nextGroup(rows []byte) (records int64, content []byte, size int) {
	size = groupHead + int(binary.LittleEndian.Uint32(rows[4:]))
	return int64(binary.LittleEndian.Uint32(rows)), rows[groupHead:size], size
}
