package parquet_test

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

func TestConformance(t *testing.T) {
	for _, compression := range parquet.Compressions() {
		t.Run(compression, func(t *testing.T) { conforms(t, parquet.Options{Compression: compression}) })
	}
	t.Run("many row groups", func(t *testing.T) { conforms(t, parquet.Options{Memory: 1, RowGroup: 4 << 10}) })
}

func conforms(t *testing.T, o parquet.Options) {
	codectest.Run(t, codectest.Harness{
		New: func() codec.Format {
			o := o
			var err error
			if o.Schemas, err = schema.Open(schema.Options{DateKey: "date", TagKey: "tag"}); err != nil {
				panic(err)
			}
			f, err := parquet.New(o)
			if err != nil {
				panic(err)
			}
			return f
		},
		Choosing: func() codec.Format { return formatOf(t, o, schematest.Choosing(codectest.Key), false) },
		Read: func(file []byte) (keys []string, err error) {
			c, err := read(file)
			for _, row := range c.rows {
				key, _ := row[codectest.Key].(string)
				keys = append(keys, key)
			}
			return keys, err
		},
		Extension: ".parquet",
		Counts:    true,
		Head:      true,
		// Most of the suite's records wait in open pages and dictionaries, and count
		// as if they compressed as the pages before them.
		Rounding: 0.5,
	})
}
