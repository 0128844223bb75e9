package parquet_test

import (
	"testing"

	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
)

// TestRestAsVariant: a given schema may say that its field for the rest is
// free-form. It is a VARIANT then, like any other.
func TestRestAsVariant(t *testing.T) {
	for name, typ := range map[string]string{
		"nullable": `["null",{"type":"string","logicalType":"free-form"}]`, "required": `{"type":"string","logicalType":"free-form"}`,
	} {
		t.Run(name, func(t *testing.T) {
			given := `{"type":"record","name":"r","fields":[{"name":"_extra","type":` + typ + `},{"name":"id","type":"long"}]}`
			f := newFile(t, formatOf(t, parquet.Options{Variant: true}, given, false))
			chunk := Append(nil, Event(At(1, 0), Map{}, Map{"id", 1, "more", []any{1, "x"}}))
			chunk = Append(chunk, Event(At(1, 0), Map{}, Map{"id", 2}))
			if r := f.write(batch(chunk)); len(r) > 0 {
				t.Fatalf("rejected: %s", r[0].Reason)
			}
			if n, err := countWithParquetGo(f.close()); err != nil || n != 2 {
				t.Fatalf("%d rows: %v", n, err)
			}
		})
	}
}
