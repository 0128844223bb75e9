package csv

import (
	"io"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// writer writes rows as they come, and the header before the first: a file
// without rows stays empty.
type writer struct {
	*json.LineWriter
	first *first
}

func (f format) NewWriter(w io.Writer, _ codec.Meta) (codec.Writer, error) {
	to := &first{w: w, header: f.Header()}
	return &writer{json.NewLineWriter(to, newEncoder(f.options)), to}, nil
}

// Size implements codec.Writer.
func (w *writer) Size() int64 { return w.LineWriter.Size() + w.first.size }

// first is a writer that begins with a header.
type first struct {
	w      io.Writer
	header []byte // until it is written
	size   int64  // of the header, once it is written
}

func (f *first) Write(b []byte) (int, error) {
	if len(f.header) > 0 {
		n, err := f.w.Write(f.header)
		f.size += int64(n)
		if err == nil && n < len(f.header) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return 0, err
		}
		f.header = nil
	}
	return f.w.Write(b)
}
