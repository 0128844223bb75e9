package readers

import (
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// stream is a few chunks without a schema, and what docs/schemas.md says is in
// which column.
type stream struct {
	name  string
	pairs []string // keys beyond the common ones
	// chunks are delivered one after the other. Each hour is a bucket, so an
	// hour's first chunk begins a part.
	chunks []hour
	want   []eventtest.Map // by Parquet's columns
	// avro are Avro's names for columns that Parquet has others for.
	avro map[string]string
	// ahead says that a record may be in an Avro file's columns where it is in
	// Parquet's _extra: Avro's encoder learns from chunks that wait for a part
	// to begin. All that is sure is that nothing is lost.
	ahead bool
	// without are readers that can't read it.
	without []string
}

// hour is a chunk of records of one hour.
type hour struct {
	hour    int
	records []eventtest.Map
}

// start is the time of all records of hour 0.
const start = 1767225600

func (s stream) raw() (all []host.Chunk, records []eventtest.Map) {
	for _, h := range s.chunks {
		var data []byte
		for _, m := range h.records {
			data = eventtest.Append(data, eventtest.Event(eventtest.At(start+3600*int64(h.hour), 123456789), eventtest.Map{}, m))
		}
		all = append(all, host.Chunk{Tag: tag, Data: data, Records: uint64(len(h.records))})
		records = append(records, h.records...)
	}
	return all, records
}

// oddRows reads each stream in both formats.
func oddRows() (all []row) {
	for _, s := range streams() {
		chunks, records := s.raw()
		common := keys(conf.KeyAssigner, "datetime", conf.KeyBucketTimezone, "UTC", conf.KeyJSONDateKey, "false")
		for i := 0; i < len(s.pairs); i += 2 {
			common[s.pairs[i]] = s.pairs[i+1]
		}
		for _, format := range []string{"parquet", "avro"} {
			r := row{name: format + " " + s.name, keys: withKey(common, conf.KeyFormat, format), chunks: chunks, count: len(records)}
			names := map[string]string{}
			r.readers = without(parquetReaders, s.without)
			if format == "avro" {
				names, r.readers = s.avro, without(avroReaders, s.without)
			}
			r.want = func(i int, _ string) string { return Canonical(renamed(s.want[i], names)) }
			if format == "avro" && s.ahead {
				r.readers, r.options = []string{"fastavro"}, map[string]any{"schema": true, "whole": true}
				r.check = func(t *testing.T, found []Found) { sameRecords(t, found, records, false) }
			}
			all = append(all, r)
		}
	}
	return append(all, variantRow())
}

func withKey(keys map[string]string, key, value string) map[string]string {
	all := map[string]string{key: value}
	for k, v := range keys {
		all[k] = v
	}
	return all
}

func without(readers, but []string) (left []string) {
	for _, r := range readers {
		if !slices.Contains(but, r) {
			left = append(left, r)
		}
	}
	return left
}

// variantRow has free-form columns as VARIANT: their values keep their types.
func variantRow() row {
	s := nesting()
	chunks, records := s.raw()
	want := slices.Clone(s.want)
	want[2] = records[2]
	return row{
		name:   "parquet variant",
		keys:   keys(conf.KeyFormat, "parquet", conf.KeyJSONDateKey, "false", conf.KeySchemaFreeForm, "variant"),
		chunks: chunks, count: len(want), readers: []string{"duckdb", "spark"},
		want: func(i int, _ string) string { return Canonical(want[i]) },
	}
}
