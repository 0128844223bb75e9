// Package members builds files out of members: pieces that are made ahead of
// the file, each from some rows, and lie in it one behind the other. Members
// of a gzip file, Snappy blocks as Hadoop frames them and blocks of a
// SequenceFile are such.
//
// A large share of a chunk becomes members at once, on the worker that encodes
// it. A small one would make a poor member: its rows travel to the writer as
// they are, and are packed there once enough of them have gathered. Rows stay
// in the order in which their blocks were written, every row is in exactly one
// member, and the same blocks always give the same file.
//
// The package knows neither compression nor rows; it never splits a row and
// never writes a member without one.
package members

import (
	"sync"

	"github.com/out-hdfs/out_hdfs/codec"
)

// Packer makes members. One goroutine uses it at a time.
type Packer interface {
	// Pack appends a member to dst that holds the first used bytes of rows,
	// which are at least one row: all that a member should hold. rows are what
	// one or several calls of the rows' encoder made. It keeps neither slice.
	Pack(dst, rows []byte) (_ []byte, used int)
}

// File is how a file begins and what lies between its members.
type File struct {
	Head []byte // before everything else, as it is
	Rows []byte // rows before all others, such as a header line
	// Before is written before each member, unless fewer than Spacing bytes lie
	// behind Head or the last one.
	Before  []byte
	Spacing int64
}

// Options are a format.
type Options struct {
	Extension string
	// NewEncoder makes an encoder of rows, for one goroutine.
	NewEncoder func() codec.BlockEncoder
	// NewPacker makes a packer, for one goroutine.
	NewPacker func() Packer
	// Least is how many bytes of rows are worth a member. Of fewer none is
	// made unless the file ends or the next share has its own.
	Least int
	// Begin says how a file begins. nil is the zero File.
	Begin func(m codec.Meta) File
	// Count reads from a member, as it lies in the file, how many records it
	// says it holds. Writers are codec.Counters with it; nil if members don't
	// say.
	Count func(member []byte) int64
}

// New returns the format. It is safe for concurrent use.
func New(o Options) codec.BlockFormat { return &format{options: o} }

type format struct {
	options Options

	lock sync.Mutex
	free []*lent // of writers that are through with them
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
	return &encoder{rows: f.options.NewEncoder(), packer: f.options.NewPacker(), least: f.options.Least}
}

// lent is a packer and room for what it makes.
type lent struct {
	Packer
	member []byte
}

// keepLent is how many packers a format keeps: those of an applier and of the
// sealers that end files beside it.
const keepLent = 3

// lend lends a packer. Writers need theirs for moments only, so that the
// hundreds of files that may be open share a few.
func (f *format) lend() *lent {
	f.lock.Lock()
	defer f.lock.Unlock()
	if n := len(f.free); n > 0 {
		l := f.free[n-1]
		f.free = f.free[:n-1]
		return l
	}
	return &lent{Packer: f.options.NewPacker()}
}

func (f *format) giveBack(l *lent) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if len(f.free) < keepLent {
		f.free = append(f.free, l)
	}
}
