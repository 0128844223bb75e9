package readers

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
)

// The names that docs/schemas.md gives the shared records' fields.
var (
	columnNames = map[string]string{"pod name": "pod_name", "a.b": "a_b", "with space": "with_space", "quote\"d": "quote_d"}
	avroNames   = map[string]string{
		"pod name": "pod_name", "a.b": "a_b", "with space": "with_space", "quote\"d": "quote_d",
		"x-y": "x_y", "日志": "__", "1st": "_1st", "$dollar": "_dollar", "emoji🙂": "emoji_",
	}
)

// renamed is a value with other names for some keys, at any depth.
func renamed(v any, names map[string]string) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = renamed(v[i], names)
		}
		return list
	case eventtest.Map:
		m := make(eventtest.Map, len(v))
		for i := 0; i < len(v); i += 2 {
			m[i], m[i+1] = v[i], renamed(v[i+1], names)
			if name, ok := names[v[i].(string)]; ok {
				m[i] = name
			}
		}
		return m
	}
	return v
}

// typed is a shared record in columns.
func typed(names map[string]string) func(i int, reader string) string {
	var all []string // what was asked for before: many rows do
	return func(i int, _ string) string {
		for i := len(all); i < count; i++ {
			at := time.UnixMicro(second(i)*1e6 + 123456)
			all = append(all, Canonical(renamed(append(eventtest.Map{"date", at}, recordOf(i)...), names)))
		}
		return all[i]
	}
}

var (
	parquetReaders = []string{"pyarrow", "duckdb", Java, "spark"}
	avroReaders    = []string{"fastavro", Java, "spark"}
)

func parquetRows() (all []row) {
	want := typed(columnNames)
	for _, compression := range []string{"snappy", "zstd", "gzip", "lz4_raw", "none"} {
		r := row{
			name: "parquet " + compression, keys: keys(conf.KeyFormat, "parquet", conf.KeyCompression, compression),
			readers: parquetReaders, want: want,
		}
		if compression == "snappy" { // the default
			delete(r.keys, conf.KeyCompression)
		}
		all = append(all, r)
	}
	return append(all, row{
		name: "parquet snappy row by row", of: "parquet snappy", keys: keys(conf.KeyFormat, "parquet"),
		readers: []string{"spark"}, want: want, options: map[string]any{"vectorized": false},
	})
}

func avroRows() (all []row) {
	want := typed(avroNames)
	for _, compression := range []string{"snappy", "deflate", "zstd", "bzip2", "none"} {
		r := row{
			name: "avro " + compression, keys: keys(conf.KeyFormat, "avro", conf.KeyCompression, compression),
			readers: avroReaders, want: want,
		}
		if compression == "snappy" { // the default
			delete(r.keys, conf.KeyCompression)
		}
		all = append(all, r)
	}
	return all
}

// TestHadoopPrintsAvro prints the records by `hdfs dfs -text`, which has an
// Avro reader of its own.
func TestHadoopPrintsAvro(t *testing.T) {
	s := open(t)
	jars, err := s.python.Jars()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, compression := range []string{"snappy", "deflate", "bzip2", "none"} { // the client's jars have no zstd
		files = append(files, s.written["avro "+compression].Files...)
	}
	out, err := HadoopText(t.Context(), jars, localFS, files...)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 4*count {
		t.Fatalf("%d lines, want %d", len(lines), 4*count)
	}
	for i, line := range lines {
		var record struct {
			ID   struct{ Long int64 }
			Text struct{ String string }
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if record.ID.Long != int64(i%count) || record.Text.String != field(recordOf(i%count), "text") {
			t.Fatalf("line %d is %.300s", i, line)
		}
	}
}
