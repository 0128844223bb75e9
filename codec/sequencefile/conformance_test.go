package sequencefile_test

import (
	stdjson "encoding/json"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/sequencefile"
)

func TestConformance(t *testing.T) {
	for _, o := range variants() {
		switch {
		case o.Bytes != (o.Type == sequencefile.Record):
			continue // the values' class and the type don't depend on each other
		case o.Type == sequencefile.Record && o.Compression == compress.Bzip2:
			continue // a stream for each value takes minutes, and other tests have it
		}
		t.Run(name(o), func(t *testing.T) {
			o.NewLines = jsonLines
			codectest.Run(t, codectest.Harness{
				New: func() codec.Format {
					f, err := sequencefile.New(o)
					if err != nil {
						panic(err)
					}
					return f
				},
				Read: func(b []byte) (keys []string, err error) {
					f, err := read(b)
					for _, r := range f.records {
						var line map[string]any
						if err := stdjson.Unmarshal([]byte(r.value), &line); err != nil {
							return nil, err
						}
						key, _ := line[codectest.Key].(string)
						keys = append(keys, key)
					}
					return keys, err
				},
				Extension: ".seq",
				Blocks:    true,
				Counts:    true,
				Slow:      o.Compression == compress.Bzip2 || o.Type == sequencefile.Record && o.Compression != compress.None,
			})
		})
	}
}
