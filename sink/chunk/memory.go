package chunk

import (
	"reflect"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/memory"
)

// eventSize is the memory of an event besides the chunk's bytes: itself, and
// that it is listed in a batch.
var eventSize = int64(reflect.TypeFor[event.Event]().Size() + reflect.TypeFor[*event.Event]().Size())

// TypicalEvents is how many events a chunk of so many bytes is taken to have,
// before they are counted: records of 400 bytes.
func TypicalEvents(bytes int) int { return 64 + bytes/400 }

// TypicalBlocks is how many bytes of blocks are made of a chunk of so many bytes,
// hardly ever more: JSON repeats what msgpack has in a byte or two.
func TypicalBlocks(bytes int) int { return bytes + bytes/2 }

// Memory is what a job of the chunk takes besides a payload that is kept, in
// bytes, as far as the chunk's size tells.
func (o Owed) Memory() int64 {
	n := memory.Lent(TypicalBlocks(int(o.Size))) + int64(TypicalEvents(int(o.Size)))*eventSize
	if o.Payload == nil {
		n += memory.Lent(int(o.Size))
	}
	return n
}

// Account changes what the job has taken to what it holds with its events, and to
// what is still to come of blocks, in bytes.
func (j *Job) Account(events []event.Event, toCome int64) {
	n := int64(cap(j.Blocks)) + int64(cap(events))*eventSize + toCome
	if j.Payload == nil {
		n += int64(cap(j.Data))
	}
	j.room.Set(n)
}
