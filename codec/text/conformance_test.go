package text_test

import (
	"bytes"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/text"
)

func TestConformance(t *testing.T) {
	codectest.RunRows(t, codectest.Rows{
		New:       func() codec.BlockFormat { return text.New(text.Options{}).(codec.BlockFormat) },
		Extension: ".txt",
		Spreads:   true,
		Read: func(rows []byte) ([]string, error) {
			return codectest.LinesOf(rows, func(line []byte) (string, error) {
				if bytes.HasPrefix(line, []byte("{")) { // a record without the field, as JSON
					return "", nil
				}
				return string(line), nil
			})
		},
	})
}
