package members

import (
	"fmt"
	"io"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

type writer struct {
	w      io.Writer
	format *format
	file   File
	rows   codec.BlockEncoder // made by the first Write

	pending []byte // rows that no member holds yet
	begun   bool   // Head and the first rows are on their way
	packed  int64  // bytes of rows in the members written
	members int64  // bytes of those members
	records int64  // that those members say they hold, if they do
	size    int64  // bytes written
	since   int64  // bytes written behind Head or the last Before
	err     error  // the first, which is final
}

// NewWriter implements codec.Format. Nothing is written before the first row.
func (f *format) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	wr := &writer{w: w, format: f}
	if f.options.Begin != nil {
		wr.file = f.options.Begin(m)
	}
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
	if w.rows == nil {
		w.rows = w.format.options.NewEncoder()
	}
	before := len(w.pending)
	var rejects []codec.Reject
	w.pending, rejects = w.rows.Encode(w.pending, b)
	if len(w.pending) == before {
		return rejects, nil
	}
	w.begin()
	return rejects, w.settle()
}

// WriteBlock implements codec.BlockWriter.
func (w *writer) WriteBlock(block []byte, records int) error {
	for len(block) > 0 && w.err == nil {
		var p piece
		if p, block, w.err = next(block); w.err != nil {
			break
		}
		w.begin()
		if p.member {
			w.pack()
			w.member(p.content, p.rows)
			continue
		}
		w.pending = append(w.pending, p.content...)
		_ = w.settle()
	}
	if w.err != nil {
		return fmt.Errorf("writing %d records: %w", records, w.err)
	}
	return nil
}

// begin begins the file with its first rows, which are pending or on their way.
func (w *writer) begin() {
	if w.begun || w.err != nil {
		return
	}
	w.begun = true
	w.put(w.file.Head)
	w.since = 0
	w.pending = slices.Insert(w.pending, 0, w.file.Rows...)
	w.file.Head, w.file.Rows = nil, nil
}

// settle packs what is pending if it is worth a member.
func (w *writer) settle() error {
	if len(w.pending) >= w.format.options.Least {
		w.pack()
	}
	return w.err
}

// pack packs all that is pending.
func (w *writer) pack() {
	if len(w.pending) == 0 || w.err != nil {
		return
	}
	l := w.format.lend()
	defer w.format.giveBack(l)
	for rows := w.pending; len(rows) > 0; {
		var used int
		l.member, used = l.Pack(l.member[:0], rows)
		w.member(l.member, used)
		rows = rows[used:]
	}
	if w.pending = w.pending[:0]; cap(w.pending) > keepPending*w.format.options.Least {
		w.pending = nil
	}
}

// keepPending is how many times Least a writer keeps of its buffer: rows that
// wait and those that join them are less than two.
const keepPending = 3

func (w *writer) member(content []byte, rows int) {
	if len(w.file.Before) > 0 && w.since >= w.file.Spacing {
		w.put(w.file.Before)
		w.since = 0
	}
	w.put(content)
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
	n, err := w.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("writing %d bytes behind byte %d: %w", len(b), w.size, err)
	}
	w.size += int64(n)
	w.since += int64(n)
}

// unknownRatio is what rows are taken to shrink to before the file has a
// member: about what the weakest codec makes of log records.
const unknownRatio = 4

// Size implements codec.Writer: the bytes written, and of pending rows an
// estimate by what the rows before them became.
func (w *writer) Size() int64 {
	pending := int64(len(w.pending))
	if w.packed == 0 {
		return w.size + (pending+unknownRatio-1)/unknownRatio
	}
	return w.size + int64(float64(pending)*float64(w.members)/float64(w.packed))
}

// Buffered implements codec.Writer.
func (w *writer) Buffered() int64 { return int64(cap(w.pending)) }

// Close implements codec.Writer: it packs what is pending.
func (w *writer) Close() error {
	w.pack()
	return w.err
}
