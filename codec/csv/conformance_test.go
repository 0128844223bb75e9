package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/csv"
)

func conforming(dateKey string) codec.BlockFormat {
	o := options("date,id," + codectest.Key + ",v")
	o.Header, o.Values.DateKey = true, dateKey
	f, err := csv.New(o)
	if err != nil {
		panic(err)
	}
	return f
}

func TestConformance(t *testing.T) {
	codectest.RunRows(t, codectest.Rows{
		New:       func() codec.BlockFormat { return conforming("date") },
		Choosing:  func() codec.BlockFormat { return conforming("") },
		Extension: ".csv",
		Read: func(b []byte) (keys []string, err error) {
			rows, err := stdcsv.NewReader(bytes.NewReader(b)).ReadAll()
			if err != nil {
				return nil, err
			}
			if len(rows) < 2 || !slices.Equal(rows[0], []string{"date", "id", codectest.Key, "v"}) {
				return nil, errors.New("the header is missing, or rows behind it")
			}
			for _, row := range rows[1:] {
				keys = append(keys, row[2])
			}
			return keys, nil
		},
	})
}
