package sequencefile

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// A row is a record on its way into a file:
//
//	key     8 bytes, big-endian, as a LongWritable has it
//	length  4 bytes, big-endian
//	value   the line
const rowHead = 8 + 4

// encoder makes rows of the lines of another format.
type encoder struct {
	lines codec.BlockEncoder
	batch event.Batch // of the event at hand alone
	one   [1]*event.Event
}

// lineRoom is more than a line mostly needs beyond twice its event's msgpack.
// With that much room no encoder of lines has to move all rows before it.
const lineRoom = 256

// tooLong is the reason of a reject: Hadoop's lengths are of 31 bits, and a
// record's is of key, value and the value's own length.
const (
	tooLong  = "the record has more than 2 GiB"
	maxValue = math.MaxInt32 - 64
)

// Encode implements codec.BlockEncoder.
func (e *encoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	var rejects []codec.Reject
	e.batch = event.Batch{Tag: b.Tag, Arrival: b.Arrival, Events: e.one[:]}
	for _, ev := range b.Events {
		e.one[0] = ev
		start := len(dst)
		dst = slices.Grow(dst, rowHead+2*len(ev.Raw)+lineRoom)[:start+rowHead]
		var rejected []codec.Reject
		dst, rejected = e.lines.Encode(dst, &e.batch)
		if len(rejected) > 0 {
			dst, rejects = dst[:start], append(rejects, rejected...)
			continue
		}
		value := dst[start+rowHead:]
		if n := len(value); n > 0 && value[n-1] == '\n' {
			value = value[:n-1]
		}
		if len(value) > maxValue {
			dst, rejects = dst[:start], append(rejects, codec.Reject{Event: ev, Reason: tooLong})
			continue
		}
		dst = dst[:start+rowHead+len(value)]
		binary.BigEndian.PutUint64(dst[start:], uint64(key(ev, b)))
		binary.BigEndian.PutUint32(dst[start+8:], uint32(len(value)))
	}
	e.batch, e.one[0] = event.Batch{}, nil
	return dst, rejects
}

// key is the event's time in milliseconds.
func key(e *event.Event, b *event.Batch) int64 {
	if !e.Time.Set {
		return b.Arrival.UnixMilli()
	}
	return e.Time.Sec*1000 + int64(e.Time.Nsec/1e6)
}

// row is the row that rows begin with.
func row(rows []byte) (key, value []byte, size int) {
	size = rowHead + int(binary.BigEndian.Uint32(rows[8:]))
	return rows[:8], rows[rowHead:size], size
}
