package json_test

import (
	stdjson "encoding/json"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

func TestConformance(t *testing.T) {
	codectest.RunRows(t, codectest.Rows{
		New: func() codec.BlockFormat {
			return json.New(json.Options{DateKey: "date", TagKey: "tag"}).(codec.BlockFormat)
		},
		Extension: ".json",
		Read: func(rows []byte) ([]string, error) {
			return codectest.LinesOf(rows, func(line []byte) (string, error) {
				var record map[string]any
				err := stdjson.Unmarshal(line, &record)
				text, _ := record[codectest.Key].(string)
				return text, err
			})
		},
	})
}
