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
	to := &first{out: codec.Output{W: w}, header: f.Header()}
	return &writer{json.NewLineWriter(to, newEncoder(f.options)), to}, nil
}

// Size implements codec.Writer.
func (w *writer) Size() int64 { return w.first.out.Size }

// first is a writer that begins with a header.
type first struct {
	out    codec.Output
	header []byte // until it is written
}

func (f *first) Write(b []byte) (int, error) {
	if len(f.header) > 0 {
		if _, err := f.out.Write(f.header); err != nil {
			return 0, err
		}
		f.header = nil
	}
	return f.out.Write(b)
}
