package avro_test

import (
	"bytes"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

func TestConformance(t *testing.T) {
	for _, compression := range avro.Compressions() {
		t.Run(compression, func(t *testing.T) {
			codectest.Run(t, codectest.Harness{
				New: func() codec.Format {
					s, err := schema.Open(schema.Options{DateKey: "date", TagKey: "tag"})
					if err != nil {
						panic(err)
					}
					f, err := avro.New(avro.Options{Compression: compression, Schemas: s})
					if err != nil {
						panic(err)
					}
					return f
				},
				Choosing: func() codec.Format { return formatOf(t, compression, schematest.Choosing(codectest.Key), false) },
				Read: func(file []byte) (keys []string, err error) {
					c, err := split(file)
					if err != nil {
						return nil, err
					}
					plain, err := c.uncompressed()
					if err != nil {
						return nil, err
					}
					_, rows, err := read(plain)
					for _, row := range rows {
						key, _ := row[codectest.Key].(string)
						keys = append(keys, key)
					}
					return keys, err
				},
				Extension: ".avro",
				Blocks:    true,
				Counts:    true,
				Head:      true,
				Slow:      compression == compress.Bzip2,
				SameBut: func(file []byte) []byte {
					c, err := split(file)
					if err != nil {
						panic(err)
					}
					return bytes.ReplaceAll(file, c.marker, []byte("the marker"))
				},
			})
		})
	}
}
