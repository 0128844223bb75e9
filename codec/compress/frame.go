package compress

import (
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/members"
)

// frame is a format whose files are one zstd frame. Its blocks are rows as they
// are, encoded ahead; they are compressed as they are written, in order.
type frame struct {
	codec.BlockFormat
	extension string
	level     int
	minMember int
	header    []byte

	encoders members.Pool[*zstd.Encoder] // idle, for the files that are begun next
}

var (
	_ codec.BlockFormat = (*frame)(nil)
	_ codec.BlockWriter = (*frameWriter)(nil)
)

func newFrame(f codec.BlockFormat, c compression, level int, header []byte) *frame {
	return &frame{
		BlockFormat: f, extension: f.Extension() + c.extension, level: level, minMember: c.minMember, header: header,
		encoders: members.Pool[*zstd.Encoder]{Max: keepEncoders},
	}
}

// zstdWindow is how far back a match may lie. On log records more gains next to
// nothing, and an encoder holds about twice this for as long as its file is
// open.
const zstdWindow = 512 << 10

func zstdOptions(level int) []zstd.EOption {
	return []zstd.EOption{
		zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithWindowSize(zstdWindow),
		// One goroutine, the caller's: nothing outlives a writer that is dropped.
		zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
	}
}

func (f *frame) Extension() string { return f.extension }

func (f *frame) NewWriter(w io.Writer, _ codec.Meta) (codec.Writer, error) {
	return &frameWriter{out: codec.Output{W: w}, format: f, header: f.header}, nil
}

// keepEncoders is how many idle encoders a format keeps.
const keepEncoders = 4

func (f *frame) encoder(w io.Writer) *zstd.Encoder {
	z, ok := f.encoders.Get()
	if !ok {
		return must(zstd.NewWriter(w, zstdOptions(f.level)...))
	}
	z.Reset(w)
	return z
}

// frameWriter keeps rows as they are until they are worth an encoder's memory:
// a file that stays small, or is begun only, takes none.
type frameWriter struct {
	out    codec.Output
	format *frame
	rows   codec.BlockEncoder // made by the first Write
	z      *zstd.Encoder      // nil until there is enough
	closed bool

	header   []byte // until the first row comes
	gathered []byte // rows that z hasn't seen
	fed      int64  // bytes that z has seen
	err      error  // the first, which is final
}

// Write implements codec.Writer.
func (w *frameWriter) Write(b *event.Batch) ([]codec.Reject, error) {
	if w.err != nil {
		return nil, w.err
	}
	if w.rows == nil {
		w.rows = w.format.NewBlockEncoder()
	}
	before := len(w.gathered)
	var rejects []codec.Reject
	w.gathered, rejects = w.rows.Encode(w.gathered, b)
	if len(w.gathered) > before {
		w.begin()
	}
	if w.z != nil || len(w.gathered) >= w.format.minMember {
		w.feedPending()
	}
	return rejects, w.err
}

// WriteBlock implements codec.BlockWriter.
func (w *frameWriter) WriteBlock(block []byte, records int) error {
	if len(block) > 0 {
		w.begin()
	}
	if w.err == nil && w.z == nil && len(w.gathered)+len(block) < w.format.minMember {
		w.gathered = append(w.gathered, block...)
		return nil
	}
	w.feedPending()
	if w.feed(block); w.err != nil {
		return fmt.Errorf("writing %d records: %w", records, w.err)
	}
	return nil
}

// begin puts the header before the first rows.
func (w *frameWriter) begin() {
	w.gathered = slices.Insert(w.gathered, 0, w.header...)
	w.header = nil
}

func (w *frameWriter) feedPending() {
	w.feed(w.gathered)
	w.gathered = nil
}

func (w *frameWriter) feed(rows []byte) {
	if w.err != nil || len(rows) == 0 {
		return
	}
	if w.z == nil {
		w.z = w.format.encoder(&w.out)
	}
	if _, err := w.z.Write(rows); err != nil {
		w.fail(err)
	}
	w.fed += int64(len(rows))
}

func (w *frameWriter) fail(err error) {
	if w.err == nil {
		w.err = fmt.Errorf("compressing behind byte %d: %w", w.out.Size, err)
	}
}

// zstdBlock is how many bytes an encoder gathers before it compresses them.
const zstdBlock = 128 << 10

// usualRatio is what rows are taken to shrink to before a file tells.
const usualRatio = 8

// Size implements codec.Writer: the bytes written, and of the rest an estimate
// by what was written so far.
func (w *frameWriter) Size() int64 {
	held := w.fed % zstdBlock
	rest := int64(len(w.gathered)) + held
	if w.closed {
		return w.out.Size
	}
	if done := w.fed - held; done > 0 {
		return w.out.Size + int64(float64(rest)*float64(w.out.Size)/float64(done))
	}
	return w.out.Size + (rest+usualRatio-1)/usualRatio
}

// encoderMemory is what an encoder with zstdWindow holds, in bytes. It is
// measured, and checked by a test.
func encoderMemory(level int) int64 {
	switch zstd.EncoderLevelFromZstd(level) {
	case zstd.SpeedFastest:
		return 1100 << 10
	case zstd.SpeedDefault:
		return 2200 << 10
	case zstd.SpeedBetterCompression:
		return 5100 << 10
	}
	return 36 << 20
}

// Buffered implements codec.Writer.
func (w *frameWriter) Buffered() int64 {
	n := int64(cap(w.gathered))
	if w.z != nil {
		n += encoderMemory(w.format.level)
	}
	return n
}

// Close implements codec.Writer: it ends the frame.
func (w *frameWriter) Close() error {
	if w.closed {
		return w.err
	}
	w.feedPending()
	w.closed = true
	if w.z == nil {
		return w.err
	}
	if err := w.z.Close(); err != nil {
		w.fail(err)
	}
	w.z.Reset(nil)
	w.format.encoders.Put(w.z)
	w.z = nil
	return w.err
}
