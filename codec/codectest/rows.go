package codectest

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
)

// Rows is a format of rows under test.
type Rows struct {
	New       func() codec.BlockFormat
	Extension string // without a compression
	// Read reads the rows of a file that isn't compressed, as Harness.Read does.
	Read     func(rows []byte) ([]string, error)
	Choosing func() codec.BlockFormat // see Harness
	Spreads  bool                     // see Harness
}

// RunRows runs the suite for a format of rows, with each compression.
func RunRows(t *testing.T, r Rows) {
	for _, c := range []struct {
		name, extension string
		rounding        float64
	}{
		{compress.None, "", 0},
		{compress.Gzip, ".gz", 0},
		{compress.Zstd, ".zst", 0},
		{compress.Snappy, ".snappy", 0},
		{compress.LZ4, ".lz4", 0},
		// Its members are so large that a file of the suite has only one: until the
		// end the size is a guess that expects the weakest compression.
		{compress.Bzip2, ".bz2", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrap := func(rows codec.BlockFormat) codec.Format {
				f, err := compress.Wrap(rows, c.name, 0)
				if err != nil {
					panic(err)
				}
				return f
			}
			var choosing func() codec.Format
			if r.Choosing != nil {
				choosing = func() codec.Format { return wrap(r.Choosing()) }
			}
			Run(t, Harness{
				New:      func() codec.Format { return wrap(r.New()) },
				Choosing: choosing,
				Read: func(file []byte) ([]string, error) {
					rows, err := Decompress(c.name, file)
					if err != nil {
						return nil, err
					}
					return r.Read(rows)
				},
				Extension: r.Extension + c.extension,
				Blocks:    true,
				Spreads:   r.Spreads,
				Slow:      c.name == compress.Bzip2,
				Rounding:  c.rounding,
			})
		})
	}
}

// LinesOf cuts rows at their newlines, and takes the Key of each.
func LinesOf(rows []byte, key func(line []byte) (string, error)) (keys []string, err error) {
	for line := range bytes.Lines(rows) {
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		k, err := key(line)
		if err == nil && !whole {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("line %d, %.80q: %w", len(keys)+1, line, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}
