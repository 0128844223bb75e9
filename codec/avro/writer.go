package avro

import (
	"crypto/rand"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// writer writes one file (Avro 1.11, "Object Container Files"):
//
//	file   := "Obj" 1 metadata:map<bytes> marker[16] block*
//	block  := records:long length:long data marker[16]
type writer struct {
	format *format
	w      io.Writer
	meta   codec.Meta
	marker [16]byte
	schema *schema.Schema // nil until the first records
	enc    encoder        // of Write

	pending []byte // encoded records that are no block yet
	waiting int64  // how many
	packed  []byte // scratch: a block as it is written

	size    int64
	records int64 // in the file's blocks
	err     error // the first, which is final
}

func newMarker() (m [16]byte, err error) {
	_, err = rand.Read(m[:])
	return m, err
}

// begin writes the header: the file's schema is then settled.
func (w *writer) begin(s *schema.Schema) error {
	if w.schema != nil {
		return w.err
	}
	w.schema = s
	w.enc.use(s)
	pairs := []struct{ key, value string }{
		{"avro.schema", string(s.Text)},
		{"avro.codec", w.format.compressor.name},
		{"out_hdfs.writer_id", w.meta.WriterID},
		{"out_hdfs.part", strconv.FormatUint(w.meta.Part, 10)},
		{"out_hdfs.created", w.meta.Created.UTC().Format(time.RFC3339Nano)},
		{"out_hdfs.schema_id", fmt.Sprintf("%016x", s.ID)},
	}
	b := appendLong([]byte("Obj\x01"), int64(len(pairs)))
	for _, p := range pairs {
		b = appendText(b, []byte(p.key))
		b = appendText(b, []byte(p.value))
	}
	return w.put(append(append(b, 0), w.marker[:]...))
}

func (w *writer) put(b []byte) error {
	n, err := w.w.Write(b)
	w.size += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("write %d bytes behind byte %d of an Avro file: %w", len(b), w.size, err)
	}
	return w.err
}

// Write implements codec.Writer.
func (w *writer) Write(b *event.Batch) (rejects []codec.Reject, err error) {
	if w.err != nil {
		return nil, w.err
	}
	if w.schema == nil {
		if err := w.begin(w.format.schemas.Begin(b)); err != nil {
			return nil, err
		}
	}
	for _, e := range b.Events {
		var reason string
		if w.pending, reason = w.enc.record(w.pending, e, b.Tag); reason != "" {
			rejects = append(rejects, codec.Reject{Event: e, Reason: reason})
			continue
		}
		w.waiting++
		if len(w.pending) >= largeBlock {
			if err := w.flush(); err != nil {
				return nil, err
			}
		}
	}
	w.format.schemas.Learn(w.enc.learn())
	return rejects, w.flushLarge()
}

// WriteBlock implements codec.BlockWriter.
func (w *writer) WriteBlock(data []byte, records int) error {
	if w.err != nil || len(data) == 0 {
		return w.err
	}
	file := w.schema
	if file == nil {
		file = w.format.schemas.Begin(nil)
	}
	total := 0
	for rest := data; len(rest) > 0; {
		var b block
		var err error
		if b, rest, err = nextBlock(rest); err != nil {
			return w.fail(err)
		}
		if b.schema != file.ID {
			return fmt.Errorf("write %d records: %w", records, codec.ErrOtherSchema)
		}
		total += int(b.records)
	}
	if total != records {
		return w.fail(fmt.Errorf("%w: it has %d records instead of %d", errBlock, total, records))
	}
	if err := w.begin(file); err != nil {
		return err
	}
	for rest := data; len(rest) > 0; {
		var b block
		b, rest, _ = nextBlock(rest)
		if err := w.add(b); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) fail(err error) error {
	w.err = err
	return err
}

// add writes a block, or gathers its records.
func (w *writer) add(b block) error {
	if b.packed {
		if err := w.flush(); err != nil {
			return err
		}
		return w.block(int64(b.records), b.data)
	}
	w.pending = append(w.pending, b.data...)
	w.waiting += int64(b.records)
	return w.flushLarge()
}

func (w *writer) flushLarge() error {
	if len(w.pending) < 2*smallBlock {
		return nil
	}
	return w.flush()
}

// flush makes a block of what was gathered.
func (w *writer) flush() error {
	if w.waiting == 0 {
		return nil
	}
	packed, err := w.format.compressor.append(w.packed[:0], w.pending)
	if err != nil {
		return w.fail(fmt.Errorf("end a block of %d records: %w", w.waiting, err))
	}
	w.packed = packed
	if err := w.block(w.waiting, packed); err != nil {
		return err
	}
	w.pending, w.waiting = w.pending[:0], 0
	if cap(w.pending) > 4*smallBlock {
		w.pending = nil
	}
	if cap(w.packed) > 4*smallBlock {
		w.packed = nil
	}
	return nil
}

func (w *writer) block(records int64, data []byte) error {
	if err := w.put(appendLong(appendLong(make([]byte, 0, 20), records), int64(len(data)))); err != nil {
		return err
	}
	if err := w.put(data); err != nil {
		return err
	}
	w.records += records
	return w.put(w.marker[:])
}

// Size implements codec.Writer. What is gathered counts uncompressed.
func (w *writer) Size() int64 { return w.size + int64(len(w.pending)) }

// Buffered implements codec.Writer.
func (w *writer) Buffered() int64 {
	return int64(cap(w.pending)+cap(w.packed)) + w.enc.memory()
}

// Records implements codec.Counter.
func (w *writer) Records() int64 { return w.records }

// Close implements codec.Writer.
func (w *writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if err := w.begin(w.format.schemas.Current()); err != nil {
		return err
	}
	return w.flush()
}
