package ltsv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/ltsv"
)

func TestConformance(t *testing.T) {
	codectest.RunRows(t, codectest.Rows{
		New: func() codec.BlockFormat { return ltsv.New(options("")) },
		Choosing: func() codec.BlockFormat {
			o := options(codectest.Key + ",v")
			o.Values.DateKey, o.Values.TagKey = "", ""
			return ltsv.New(o)
		},
		Extension: ".ltsv",
		Read: func(rows []byte) ([]string, error) {
			return codectest.LinesOf(rows, func(line []byte) (key string, err error) {
				for field := range strings.SplitSeq(string(line), "\t") {
					label, value, ok := strings.Cut(field, ":")
					if !ok {
						return "", fmt.Errorf("%q has no label", field)
					}
					if label == codectest.Key {
						key = value
					}
				}
				return key, nil
			})
		},
	})
}
