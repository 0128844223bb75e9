package conf

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/labeled"
	"github.com/out-hdfs/out_hdfs/codec/ltsv"
)

// FormatLTSV writes labeled tab-separated values. Its columns are declared with
// csv's.
const FormatLTSV = "ltsv"

func ltsvFormat() format {
	return rowsOf(FormatLTSV, func(s *Settings) (codec.BlockFormat, error) {
		list, err := columns.Parse(s.Format.Columns)
		return ltsv.New(labeled.Options{Columns: list, Values: s.columnValues()}), err
	})
}
