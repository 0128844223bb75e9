package json

import (
	"fmt"
	"io"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// LineWriter writes a file of lines: it has no header and no end, so what it is
// given is written at once, and the io.Writer buffers. It is the writer of any
// format whose blocks can simply be put one behind the other.
type LineWriter struct {
	out codec.Output
	enc codec.BlockEncoder
	buf []byte
	err error // the first, which is final
}

// NewLineWriter returns a writer to w of what enc makes, which it owns from
// then on.
func NewLineWriter(w io.Writer, enc codec.BlockEncoder) *LineWriter {
	return &LineWriter{out: codec.Output{W: w}, enc: enc}
}

// keepBuffer is how much of its buffer a writer keeps between batches, in
// bytes.
const keepBuffer = 256 << 10

// Write implements codec.Writer.
func (w *LineWriter) Write(b *event.Batch) ([]codec.Reject, error) {
	if w.err != nil {
		return nil, w.err
	}
	block, rejects := w.enc.Encode(w.buf[:0], b)
	if cap(block) <= keepBuffer {
		w.buf = block[:0]
	} else {
		w.buf = nil
	}
	if err := w.WriteBlock(block, len(b.Events)-len(rejects)); err != nil {
		return nil, err
	}
	return rejects, nil
}

// WriteBlock implements codec.BlockWriter.
func (w *LineWriter) WriteBlock(block []byte, records int) error {
	if w.err != nil || len(block) == 0 {
		return w.err
	}
	if _, err := w.out.Write(block); err != nil {
		w.err = fmt.Errorf("writing %d records, %d bytes, behind byte %d: %w", records, len(block), w.out.Size, err)
	}
	return w.err
}

// Size implements codec.Writer: the bytes written so far.
func (w *LineWriter) Size() int64 { return w.out.Size }

// Buffered implements codec.Writer. No record is ever held back; the memory is
// what the next Write reuses.
func (w *LineWriter) Buffered() int64 { return int64(cap(w.buf)) }

// Close implements codec.Writer. It writes nothing: the last line has its
// newline.
func (w *LineWriter) Close() error { return w.err }
