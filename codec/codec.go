// Package codec is the seam between the sink and the formats. A format turns
// the share of a chunk that belongs to one bucket into the bytes of a part.
//
// A codec never sees a file system, a bucket or the journal. It never drops a
// record silently: what it can't encode it rejects by ordinal and reason, and
// the sink takes the reject to the dead letters.
package codec

import (
	"errors"
	"io"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Meta tells a writer which part it is writing. A format may store it in the
// file (Parquet's key-value metadata, Avro's header).
type Meta struct {
	WriterID string
	Part     uint64 // the part's number, unique below WriterID
	Created  time.Time
}

// Reject names an event that a format couldn't encode.
type Reject struct {
	Event  *event.Event
	Reason string
}

// NoValue is the reason of an event whose row would say nothing: of the columns
// or fields that were chosen none has a value. It is no row in any format, since
// all that was sent would be gone without a word. A format that writes whatever a
// record has writes an empty record too.
const NoValue = "none of the columns has a value: the record has other keys, or none"

// Format makes the writers of one file format with one configuration. It is
// safe for concurrent use; what it makes is not.
type Format interface {
	// Extension is what the part's name ends with unless part_suffix is set,
	// with its dot: ".json", ".json.gz".
	Extension() string
	// NewWriter begins a file. The writer owns no resource but memory: dropping
	// it without Close is how an unfinished part is given up.
	NewWriter(w io.Writer, m Meta) (Writer, error)
}

// Writer encodes one file. The first error of Write or Close is final: the
// sink then drops the file and builds it anew.
type Writer interface {
	// Write adds the batch's events in their order. It keeps no reference to
	// the batch after it returns. Rejected events leave no trace in the file.
	Write(b *event.Batch) ([]Reject, error)
	// Size is the number of encoded bytes so far, those still buffered
	// included; roll_size is compared with it.
	Size() int64
	// Buffered is the memory the writer holds now, in bytes; memory_limit
	// counts it.
	Buffered() int64
	// Close writes whatever ends the file. It doesn't close the io.Writer.
	Close() error
}

// BlockFormat is the optional ability of a format whose batches can be encoded
// before it is known which part they go to: JSON lines, Avro blocks, members
// of a gzip file. The sink then encodes on several goroutines and only appends
// in order. Its writers implement BlockWriter.
type BlockFormat interface {
	Format
	NewBlockEncoder() BlockEncoder
}

// BlockEncoder encodes batches independent of each other. One goroutine uses
// it at a time.
type BlockEncoder interface {
	// Encode appends the batch's events to dst, and keeps no reference to either.
	// Rejects leave no bytes, and several calls may make one block.
	Encode(dst []byte, b *event.Batch) ([]byte, []Reject)
}

// BlockWriter appends what a BlockEncoder of the same format made.
type BlockWriter interface {
	Writer
	// WriteBlock appends a block that holds the given number of records, and keeps
	// no reference to it. After ErrOtherSchema nothing was written and the writer
	// goes on as before: the same events, without those that were rejected, go to
	// Write instead.
	WriteBlock(block []byte, records int) error
}

// ErrOtherSchema is wrapped by WriteBlock's error if the block was encoded
// under another schema than the file has. It isn't final.
var ErrOtherSchema = errors.New("the block has another schema than the file")

// Counter is the optional ability of a Writer that knows from the file itself
// how many records it holds: from its blocks or its footer. It is asked after
// Close, and must agree with what the writer was given.
type Counter interface {
	Records() int64
}
