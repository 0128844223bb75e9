package compress

import (
	"io"

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// stream packs by a compressor that writes a stream. A stream has neither name
// nor time in it, so equal content gives equal bytes.
type stream struct {
	out appender
	z   compressor
}

// compressor is what the writers of all these packages have.
type compressor interface {
	io.WriteCloser
	Reset(io.Writer)
}

// appender is a slice as an io.Writer.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// Append implements Packer. Nothing can fail in memory, so an error is a bug.
func (s *stream) Append(dst, src []byte) []byte {
	s.out.b = dst
	s.z.Reset(&s.out)
	_, err := s.z.Write(src)
	if err == nil {
		err = s.z.Close()
	}
	if err != nil {
		panic("compress: " + err.Error())
	}
	dst, s.out.b = s.out.b, nil
	return dst
}

func newGzip(level int) Packer    { return &stream{z: must(gzip.NewWriterLevel(io.Discard, level))} }
func newDeflate(level int) Packer { return &stream{z: must(zlib.NewWriterLevel(io.Discard, level))} }

func newRawDeflate(level int) Packer { return &stream{z: must(flate.NewWriter(io.Discard, level))} }

func newBzip2(level int) Packer {
	return &stream{z: bzip2Writer{must(bzip2.NewWriter(io.Discard, &bzip2.WriterConfig{Level: level}))}}
}

// bzip2Writer drops the error of Reset, which is always nil.
type bzip2Writer struct{ *bzip2.Writer }

func (w bzip2Writer) Reset(to io.Writer) { _ = w.Writer.Reset(to) }

// must takes what only a level outside of the checked range makes fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic("compress: " + err.Error())
	}
	return v
}

// frames packs frames of zstd.
type frames struct{ z *zstd.Encoder }

func newZstd(level int) Packer { return frames{must(zstd.NewWriter(nil, zstdOptions(level)...))} }

func (f frames) Append(dst, src []byte) []byte { return f.z.EncodeAll(src, dst) }
