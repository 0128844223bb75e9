package avro_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

func withField(typ string) string {
	return `{"type":"record","name":"r","fields":[{"name":"id","type":"long"},{"name":"f","type":` + typ + `},{"name":"after","type":"string"}]}`
}

// three is a chunk of a good record, the one with the value, and a good one.
func three(good, value any) []byte {
	var b []byte
	for i, v := range []any{good, value, good} {
		b = Append(b, Event(At(1767225600, 0), Map{}, Map{"id", i, "f", v, "after", "x"}))
	}
	return b
}

// goodFor is a value that a type takes under every rule.
func goodFor(tb testing.TB, typ string) any {
	tb.Helper()
	for _, c := range schematest.Conversions() {
		if c.Type == typ && c.Strict != "" {
			return c.Value
		}
	}
	tb.Fatalf("no good value of %s", typ)
	return nil
}

// TestConversions: the documented rules, by what the oracle reads. A value that
// doesn't fit costs its own record alone, and the reason names the field.
func TestConversions(t *testing.T) {
	for _, c := range schematest.Conversions() {
		for strict, want := range map[bool]string{false: c.Lenient, true: c.Strict} {
			name := c.Name + "/lenient"
			if strict {
				name = c.Name + "/strict"
			}
			t.Run(name, func(t *testing.T) {
				f := newFile(t, formatOf(t, "", withField(c.Type), strict))
				rejects := f.write(batch(three(goodFor(t, c.Type), c.Value)))
				_, rows, err := read(f.close())
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					if len(rejects) != 1 || rejects[0].Event.Ordinal != 1 || !strings.HasPrefix(rejects[0].Reason, "field f") {
						t.Fatalf("rejects: %v", rejects)
					}
				} else if len(rejects) > 0 {
					t.Fatalf("rejected: %s", rejects[0].Reason)
				}
				neighbours(t, rows, want != "")
				if want == "" {
					return
				}
				if got := textOf(c.Type, rows[1]["f"]); got != want {
					t.Errorf("%#v became %s, want %s", c.Value, got, want)
				}
			})
		}
	}
}

func neighbours(t *testing.T, rows []schematest.Row, middle bool) {
	t.Helper()
	var ids []int64
	for _, r := range rows {
		ids = append(ids, r["id"].(int64))
		if r["after"] != "x" {
			t.Fatalf("the field behind holds %v", r["after"])
		}
	}
	switch {
	case middle && len(ids) == 3 && ids[0] == 0 && ids[1] == 1 && ids[2] == 2:
	case !middle && len(ids) == 2 && ids[0] == 0 && ids[1] == 2:
	default:
		t.Fatalf("the rows are %v", ids)
	}
}

// textOf shows what goavro returns.
func textOf(typ string, v any) string {
	switch x := v.(type) {
	case time.Time:
		if strings.Contains(typ, `"date"`) {
			return x.Format(time.DateOnly)
		}
	case *big.Rat:
		if strings.Contains(typ, `"scale":3`) {
			return x.FloatString(3)
		}
	}
	return schematest.Text(v)
}

// TestEveryKindInEveryType: whatever the value, the file is sound and the
// neighbours are as they were.
func TestEveryKindInEveryType(t *testing.T) {
	for _, typ := range schematest.Types() {
		t.Run(typ.Name, func(t *testing.T) {
			for _, strict := range []bool{false, true} {
				format := formatOf(t, "", withField(typ.Type), strict)
				for _, v := range schematest.OneOfEach() {
					f := newFile(t, format)
					rejects := f.write(batch(three(goodFor(t, typ.Type), v)))
					_, rows, err := read(f.close())
					if err != nil {
						t.Fatalf("%#v: %v", v, err)
					}
					neighbours(t, rows, len(rejects) == 0)
				}
			}
		})
	}
}
