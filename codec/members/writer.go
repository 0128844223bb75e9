package members

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

type writer struct {
	out    codec.Output
	format *format
	meta   codec.Meta
	file   *File              // nil until the first rows decide how it begins
	rows   codec.BlockEncoder // of Write

	gathered []byte // rows that no member holds yet
	begun    bool   // Head and the first rows are on their way
	packed   int64  // bytes of rows in the members written
	members  int64  // bytes of those members
	records  int64  // that those members say they hold, if they do
	since    int64  // bytes written behind Head or the last Before
	err      error  // the first, which is final
}

// NewWriter implements codec.Format. Nothing is written before the first row.
func (f *format) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	wr := &writer{out: codec.Output{W: w}, format: f, meta: m}
	if f.options.Count != nil {
		return &countingWriter{wr}, nil
	}
	return wr, nil
}

// countingWriter is one whose members say how many records they hold.
type countingWriter struct{ *writer }

// Records implements codec.Counter: the sum of what the file's members say.
func (w *countingWriter) Records() int64 { return w.records }

// Write implements codec.Writer.
func (w *writer) Write(b *event.Batch) ([]codec.Reject, error) {
	if w.err != nil {
		return nil, w.err
	}
	file, rows := w.fileFor(b), w.rows
	if rows == nil {
		rows = w.encoderOf(file)
	}
	before := len(w.gathered)
	var rejects []codec.Reject
	w.gathered, rejects = rows.Encode(w.gathered, b)
	if len(w.gathered) > before {
		w.file, w.rows = file, rows
		w.begin()
		w.packEnough()
	}
	return rejects, w.err
}

// WriteBlock implements codec.BlockWriter.
func (w *writer) WriteBlock(block []byte, records int) error {
	if w.err == nil && len(block) > 0 {
		file := w.fileFor(nil)
		err := check(block, records, file.Schema)
		if errors.Is(err, codec.ErrOtherSchema) {
			return fmt.Errorf("writing %d records: %w", records, err)
		}
		w.file, w.err = file, err
	}
	for len(block) > 0 && w.err == nil {
		var b batch
		if b, block, w.err = nextBatch(block); w.err == nil {
			w.begin()
			w.add(b)
		}
	}
	if w.err != nil {
		return fmt.Errorf("writing %d records: %w", records, w.err)
	}
	return nil
}

// add writes an encoded batch, or gathers its rows.
func (w *writer) add(b batch) {
	if !b.members {
		w.gathered = append(w.gathered, b.content...)
		w.packEnough()
		return
	}
	w.pack()
	for members := b.content; len(members) > 0 && w.err == nil; {
		var rows uint64
		var content []byte
		if rows, content, members, w.err = nextMember(members); w.err == nil {
			w.member(content, int(rows))
		}
	}
}

// fileFor is how the file begins; if nothing decided that yet, how it would
// with the batch.
func (w *writer) fileFor(b *event.Batch) *File {
	if w.file != nil {
		return w.file
	}
	f := &File{}
	if w.format.options.Begin != nil {
		*f = w.format.options.Begin(w.meta, b)
	}
	return f
}

// encoderOf is what makes the file's rows.
func (w *writer) encoderOf(f *File) codec.BlockEncoder {
	if f.Encoder != nil {
		return f.Encoder
	}
	return w.format.options.NewEncoder()
}

// begin begins the file with its first rows, which are gathered or on their way.
func (w *writer) begin() {
	if w.begun || w.err != nil {
		return
	}
	w.begun = true
	w.put(w.file.Head)
	w.since = 0
	w.gathered = slices.Insert(w.gathered, 0, w.file.Rows...)
	w.file.Head, w.file.Rows = nil, nil
}

// packEnough packs what has gathered if it is worth a member.
func (w *writer) packEnough() {
	if len(w.gathered) >= w.format.options.MinGathered {
		w.pack()
	}
}

// pack packs all that has gathered.
func (w *writer) pack() {
	if len(w.gathered) == 0 || w.err != nil {
		return
	}
	p := w.format.packer()
	defer w.format.packers.Put(p)
	for rows := w.gathered; len(rows) > 0; {
		var used int
		p.member, used = p.Pack(p.member[:0], rows)
		w.member(p.member, used)
		rows = rows[used:]
	}
	if w.gathered = w.gathered[:0]; cap(w.gathered) > keepGathered*w.format.options.MinGathered {
		w.gathered = nil
	}
}

// keepGathered is how many times MinGathered a writer keeps of its buffer: rows that
// wait and those that join them are less than two.
const keepGathered = 3

func (w *writer) member(content []byte, rows int) {
	if len(w.file.Before) > 0 && w.since >= w.file.Spacing {
		w.put(w.file.Before)
		w.since = 0
	}
	w.put(content)
	w.put(w.file.After)
	w.packed += int64(rows)
	w.members += int64(len(content))
	if w.format.options.Count != nil && w.err == nil {
		w.records += w.format.options.Count(content)
	}
}

func (w *writer) put(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	behind := w.out.Size
	if _, err := w.out.Write(b); err != nil {
		w.err = fmt.Errorf("writing %d bytes behind byte %d: %w", len(b), behind, err)
	}
	w.since += w.out.Size - behind
}

// unknownRatio is what rows are taken to shrink to before the file has a
// member: about what the weakest codec makes of log records.
const unknownRatio = 4

// Size implements codec.Writer: the bytes written, and of gathered rows an
// estimate by what the rows before them became.
func (w *writer) Size() int64 {
	gathered := int64(len(w.gathered))
	if w.packed == 0 {
		return w.out.Size + (gathered+unknownRatio-1)/unknownRatio
	}
	return w.out.Size + int64(float64(gathered)*float64(w.members)/float64(w.packed))
}

// Buffered implements codec.Writer.
func (w *writer) Buffered() int64 {
	n := int64(cap(w.gathered))
	if w.file != nil && w.file.Encoder != nil {
		n += w.file.Encoder.Buffered()
	}
	return n
}

// Close implements codec.Writer: it packs what has gathered.
func (w *writer) Close() error {
	if w.format.options.HeadOnly && w.err == nil && !w.begun {
		w.file = w.fileFor(nil)
		w.begin()
	}
	w.pack()
	return w.err
}
