// Package members builds files out of members: pieces that are made ahead of
// the file, each from some rows, and lie in it one behind the other. Members
// of a gzip file, Snappy blocks as Hadoop frames them, and the blocks of Avro
// files and SequenceFiles are such.
//
// A large batch becomes members at once, on the goroutine that encodes it. A
// small one would make a poor member: its rows travel to the writer as they
// are, and are packed there once enough of them have gathered. Rows stay in the
// order in which their blocks were written, every row is in exactly one member,
// and the same blocks always give the same file. Rows of another schema than
// the file's are refused before anything is written.
//
// The package knows neither compression nor rows; it never splits a row and
// never writes a member without one.
package members

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Packer makes members. One goroutine uses it at a time.
type Packer interface {
	// Pack appends a member to dst that holds the first used bytes of rows,
	// which are at least one row: all that a member should hold. rows are what
	// one or several calls of an encoder of rows made. It keeps neither slice.
	Pack(dst, rows []byte) (_ []byte, used int)
}

// SchemaEncoder is an encoder of rows that depend on a schema.
type SchemaEncoder interface {
	codec.BlockEncoder
	// Schema identifies the schema of the rows that Encode made last.
	Schema() uint64
	// Buffered is the memory it holds, in bytes.
	Buffered() int64
}

// File is how a file begins and what lies between its members.
type File struct {
	Head []byte // before everything else, as it is
	Rows []byte // rows before all others, such as a header line
	// Before is written before each member, unless fewer than Spacing bytes lie
	// behind Head or the last one.
	Before  []byte
	Spacing int64
	After   []byte // written after each member
	// Schema is that of the file's rows, and Encoder makes rows of it, for one
	// goroutine. Rows without a schema have 0, and nil for Options.NewEncoder.
	Schema  uint64
	Encoder SchemaEncoder
}

// Options are a format.
type Options struct {
	Extension string
	// NewEncoder makes an encoder of rows, for one goroutine. If their schemas
	// vary it is a SchemaEncoder.
	NewEncoder func() codec.BlockEncoder
	// NewPacker makes a packer, for one goroutine.
	NewPacker func() Packer
	// MinBatch is how many bytes of one batch's rows are worth a member.
	MinBatch int
	// MinGathered is how many bytes of gathered rows are worth one: of fewer none is
	// made unless the file ends or the next batch has its own. 0 is MinBatch.
	MinGathered int
	// Begin says how a file begins whose first batch is b. b is nil if that was
	// encoded ahead, and if there is none. It is asked again if a block that was
	// encoded ahead turns out to have another schema. nil is the zero File.
	Begin func(m codec.Meta, b *event.Batch) File
	// HeadOnly makes a file without rows consist of Head; else it is empty.
	HeadOnly bool
	// Count reads from a member, as it lies in the file, how many records it
	// says it holds. Writers are codec.Counters with it; nil if members don't
	// say.
	Count func(member []byte) int64
}

// New returns the format. It is safe for concurrent use.
func New(o Options) codec.BlockFormat {
	if o.MinGathered == 0 {
		o.MinGathered = o.MinBatch
	}
	return &format{options: o, packers: Pool[*packing]{Max: keepPackers}}
}

type format struct {
	options Options
	packers Pool[*packing] // of writers that are through with them
}

var (
	_ codec.BlockFormat  = (*format)(nil)
	_ codec.BlockEncoder = (*encoder)(nil)
	_ codec.BlockWriter  = (*writer)(nil)
	_ codec.BlockWriter  = (*countingWriter)(nil)
	_ codec.Counter      = (*countingWriter)(nil)
)

func (f *format) Extension() string { return f.options.Extension }

func (f *format) NewBlockEncoder() codec.BlockEncoder {
	e := &encoder{rows: f.options.NewEncoder(), packer: f.options.NewPacker(), minBatch: f.options.MinBatch}
	e.schema, _ = e.rows.(SchemaEncoder)
	return e
}

// packing is a packer and room for what it makes. Writers need one for moments
// only, so that the hundreds of files that may be open share a few.
type packing struct {
	Packer
	member []byte
}

// keepPackers is how many packers a format keeps: those of the goroutine that
// writes to parts and of those that end files at the same time.
const keepPackers = 3

func (f *format) packer() *packing {
	if p, ok := f.packers.Get(); ok {
		return p
	}
	return &packing{Packer: f.options.NewPacker()}
}
