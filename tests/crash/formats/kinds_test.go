package formats

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/sequencefile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kind is a format as a process is configured for it.
type kind struct {
	name string
	make func() (codec.Format, error)
}

// kinds are all formats that the tests crash. Schemas are learned anew by each
// process.
func kinds() []kind {
	lines := json.Options{DateKey: json.DefaultDateKey}
	schemas := func() (*schema.Schemas, error) {
		return schema.Open(schema.Options{DateKey: "date", TagKey: "tag"})
	}
	return []kind{
		{"parquet", func() (codec.Format, error) {
			s, err := schemas()
			if err != nil {
				return nil, err
			}
			return parquet.New(parquet.Options{Schemas: s, RowGroup: 1 << 10}) // several in a file
		}},
		{"avro", func() (codec.Format, error) {
			s, err := schemas()
			if err != nil {
				return nil, err
			}
			return avro.New(avro.Options{Schemas: s})
		}},
		{"sequencefile", func() (codec.Format, error) {
			return sequencefile.New(sequencefile.Options{
				NewLines:    json.New(lines).(codec.BlockFormat).NewBlockEncoder,
				Compression: sequencefile.Compressions()[0], Type: sequencefile.Block,
			})
		}},
		{"json.gz", func() (codec.Format, error) {
			return compress.Wrap(json.New(lines).(codec.BlockFormat), compress.Gzip, 0)
		}},
	}
}

func newFormat(t *testing.T, k kind) codec.Format {
	t.Helper()
	f, err := k.make()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const (
	chunks          = 16
	recordsPerChunk = 9
	largeChunk      = 9
)

// chunkOf is chunk i and the ids of its records, which go to two buckets. One
// record in four chunks has no bucket. Fields come, go and change their types.
// One chunk is large enough for every format to make blocks ahead of the file.
func chunkOf(i int) (data []byte, records []uint64) {
	for r := range recordsPerChunk {
		id := uint64(i*100 + r)
		body := eventtest.Map{"id", id, "log", fmt.Sprintf("line %d of chunk %d", r, i)}
		switch (i + r) % 5 {
		case 0:
			body = append(body, "n", r)
		case 1:
			body = append(body, "n", "a text")
		case 2:
			body = append(body, fmt.Sprintf("field%d", i), eventtest.Map{"deep", []any{r, "x", nil}})
		case 3:
			body = append(body, "n", []any{1.5, eventtest.Map{"k", []byte{0xff}}})
		}
		bucket := fmt.Sprintf("b%d", (i+r)%2)
		if i == largeChunk {
			bucket = "b0"
			body = append(body, "pad", strings.Repeat("padding ", 2000))
		}
		if i%4 != 1 || r != 4 {
			body = append(body, "b", bucket)
		}
		data = eventtest.Append(data, eventtest.Event(eventtest.EventTime(1_700_000_000, uint32(r)), eventtest.Map{}, body))
		records = append(records, id)
	}
	return data, records
}
