package logfmt_test

import (
	"bytes"
	"testing"

	reader "github.com/go-logfmt/logfmt"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/logfmt"
)

func TestConformance(t *testing.T) {
	codectest.RunRows(t, codectest.Rows{
		New: func() codec.BlockFormat { return logfmt.New(options("")) },
		Choosing: func() codec.BlockFormat {
			o := options(codectest.Key + ",v")
			o.Values.DateKey, o.Values.TagKey = "", ""
			return logfmt.New(o)
		},
		Extension: ".logfmt",
		Read: func(rows []byte) ([]string, error) {
			return codectest.LinesOf(rows, func(line []byte) (key string, err error) {
				d := reader.NewDecoderSize(bytes.NewReader(line), len(line)+1)
				d.ScanRecord()
				for d.ScanKeyval() {
					if string(d.Key()) == codectest.Key {
						key = string(d.Value())
					}
				}
				return key, d.Err()
			})
		},
	})
}
