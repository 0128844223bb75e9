package readers

import (
	"encoding/json"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// restored are the records that were written, by the schema in each file.
// byColumn says that fields are called as in Parquet.
func restored(t *testing.T, found []Found, byColumn bool) (records []map[string]any, files []string) {
	t.Helper()
	var fields []schematest.Field
	for _, f := range found {
		if f.Error != "" {
			t.Fatalf("%s: %s", f.File, f.Error)
		}
		if f.Schema != "" {
			var err error
			if fields, err = schematest.Root([]byte(f.Schema)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var canonical any
		if err := json.Unmarshal(f.Record, &canonical); err != nil {
			t.Fatal(err)
		}
		row, err := Value(canonical)
		if err != nil {
			t.Fatalf("%s: %v in %s", f.File, err, f.Record)
		}
		record, err := schematest.Restore(fields, row.(map[string]any), byColumn)
		if err != nil {
			t.Fatalf("%s: %v", f.File, err)
		}
		records, files = append(records, record), append(files, f.File)
	}
	return records, files
}

// sameRecords finds every field of every record in a column or in _extra.
func sameRecords(t *testing.T, found []Found, written []eventtest.Map, byColumn bool) {
	t.Helper()
	records, files := restored(t, found, byColumn)
	if len(records) != len(written) {
		t.Fatalf("%d records, want %d", len(records), len(written))
	}
	for i, m := range written {
		want, err := schematest.Record(eventtest.Pack(m))
		if err != nil {
			t.Fatal(err)
		}
		if d := schematest.Differs(want, records[i]); d != "" {
			t.Fatalf("record %d in %s: %s", i, files[i], d)
		}
	}
}
