package conf

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/labeled"
)

// FormatLTSV writes labeled tab-separated values.
const FormatLTSV = "ltsv"

// labeledFormat is a format whose lines are of labeled values.
func labeledFormat(name string, make func(labeled.Options) codec.BlockFormat) format {
	f := rowsOf(name, func(s *Settings) (codec.BlockFormat, error) {
		list, err := columns.Parse(s.Format.Columns)
		return make(labeled.Options{Columns: list, Values: s.columnValues()}), err
	})
	f.columns = true
	return f
}
