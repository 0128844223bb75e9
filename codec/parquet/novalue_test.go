package parquet_test

import (
	"bytes"
	"fmt"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
)

// TestNoDictionaryWithoutValues: a column chunk without a value has no
// dictionary page and names no dictionary's encoding, and one that has values
// behind pages of nulls is read back. fastparquet fails on a dictionary page
// without entries.
func TestNoDictionaryWithoutValues(t *testing.T) {
	const given = `{"type":"record","name":"r","fields":[{"name":"id","type":"long"},
		{"name":"note","type":["null","string"]},{"name":"ms","type":["null","long"]},{"name":"x","type":["null",{"type":"record","name":"x","fields":[
		{"name":"y","type":["null","double"]},{"name":"list","type":["null",{"type":"array","items":["null","string"]}]}]}]},
		{"name":"_extra","type":["null","string"]}]}`
	full := Map{"note", "first", "ms", 5, "x", Map{"y", 1.5, "list", []any{"a"}}, "more", true}
	for _, compression := range parquet.Compressions() {
		for _, nulls := range []int{1, 2, 25_000} { // a page has 20,000 rows at most
			for _, valuesBehind := range []int{0, 1, 2000} {
				t.Run(fmt.Sprintf("%s/%d nulls, %d values", compression, nulls, valuesBehind), func(t *testing.T) {
					var chunk []byte
					for i := range nulls + valuesBehind {
						record := Map{"id", i}
						if i >= nulls {
							record = append(record, full...)
						}
						chunk = Append(chunk, Event(At(1767225600, 0), Map{}, record))
					}
					f := newFile(t, formatOf(t, parquet.Options{Compression: compression}, given, false))
					if r := f.write(batch(chunk)); len(r) > 0 {
						t.Fatal(r)
					}
					b := f.close()
					c, err := read(b)
					if err != nil || len(c.rows) != nulls+valuesBehind {
						t.Fatalf("%d rows, %v", len(c.rows), err)
					}
					for i, row := range c.rows {
						if (row["note"] == "first") != (i >= nulls) || (row["_extra"] == `{"more":true}`) != (i >= nulls) {
							t.Fatalf("row %d is %v", i, row)
						}
					}
					noEmptyDictionary(t, b)
				})
			}
		}
	}
}

func noEmptyDictionary(t *testing.T, b []byte) {
	t.Helper()
	f, err := parquetgo.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			m := c.MetaData
			nulls := m.Statistics.NullCount
			dictionary := m.DictionaryPageOffset > 0
			for _, e := range m.Encoding {
				dictionary = dictionary || e == format.RLEDictionary
			}
			if nulls == m.NumValues && dictionary {
				t.Errorf("column %v has %d nulls alone and a dictionary", m.PathInSchema, nulls)
			}
		}
	}
}
