package parquet

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	arrowvariant "github.com/apache/arrow-go/v18/parquet/variant"
	"github.com/parquet-go/parquet-go/variant"
	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// readers decode a VARIANT: arrow-go, which has nothing of the encoder, and
// parquet-go, since arrow-go 18.8 can't read the offsets of many names.
var readers = map[string]func(metadata, value []byte) (any, error){
	"arrow-go": func(metadata, value []byte) (any, error) {
		v, err := arrowvariant.New(metadata, value)
		if err != nil {
			return nil, err
		}
		return arrowPlain(v), nil
	},
	"parquet-go": func(metadata, value []byte) (any, error) {
		v, err := variant.Unmarshal(metadata, value)
		return plainOf(v), err
	},
}

// plainOf shows what parquet-go decodes in the types that schematest compares.
func plainOf(v any) any {
	switch v := v.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	case [16]byte: // a decimal of an integer above int64, little-endian
		be := make([]byte, 16)
		for i, b := range v {
			be[15-i] = b
		}
		return json.Number(new(big.Int).SetBytes(be).String())
	case time.Time:
		return "time"
	case map[string]any:
		for k, x := range v {
			v[k] = plainOf(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainOf(x)
		}
	}
	return v
}

// arrowPlain is what arrow-go decodes in the types that schematest compares.
func arrowPlain(v arrowvariant.Value) any {
	switch v := v.Value().(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	case arrowvariant.DecimalValue[decimal.Decimal128]: // an integer above int64
		return json.Number(v.Value.ToString(int32(v.Scale)))
	case arrow.Timestamp:
		return "time"
	case arrowvariant.ObjectValue:
		fields := map[string]any{}
		for k, x := range v.Values() {
			fields[k] = arrowPlain(x)
		}
		return fields
	case arrowvariant.ArrayValue:
		list := []any{}
		for x := range v.Values() {
			list = append(list, arrowPlain(x))
		}
		return list
	default:
		return v
	}
}

// times replaces what is a time in VARIANT and an ext in JSON.
func times(want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		if got == "time" && (w["type"] == json.Number("0") || w["type"] == json.Number("-1")) {
			return "time"
		}
		if g, ok := got.(map[string]any); ok {
			for k := range w {
				w[k] = times(w[k], g[k])
			}
		}
	case []any:
		if g, ok := got.([]any); ok && len(g) == len(w) {
			for i := range w {
				w[i] = times(w[i], g[i])
			}
		}
	}
	return want
}

func roundTrip(tb rapid.TB, e *variantEncoder, record eventtest.Map, by ...string) {
	tb.Helper()
	raw := eventtest.Pack(record)
	want, err := schematest.Record(raw)
	if err != nil {
		tb.Fatal(err)
	}
	metadata, value, ok := e.encode(raw)
	if !ok {
		tb.Fatal("it isn't encoded")
	}
	for _, reader := range by {
		got, err := readers[reader](metadata, value)
		if err != nil {
			tb.Fatalf("%s can't decode it: %v", reader, err)
		}
		if d := schematest.Differs(times(want, got), got); d != "" {
			tb.Fatalf("%s: %s", reader, d)
		}
	}
}

// TestVariantOfAnything: whatever msgpack holds comes back from other
// libraries' decoders, several values from one encoder.
func TestVariantOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var e variantEncoder
		for range 3 {
			roundTrip(rt, &e, eventtest.Maps(3).Draw(rt, "value"), "arrow-go", "parquet-go")
		}
	})
}

// TestVariantWidths: offsets, ids and counts of each width.
func TestVariantWidths(t *testing.T) {
	var e variantEncoder
	for _, n := range []int{0, 1, 63, 64, 255, 256, 300, 65535, 65536, 70000} {
		list := make([]any, min(n, 70000))
		for i := range list {
			list[i] = i
		}
		fields := eventtest.Map{}
		for i := range min(n, 2000) {
			fields = append(fields, "field "+strconv.Itoa(i), i)
		}
		roundTrip(t, &e, eventtest.Map{"text", strings.Repeat("x", n), "list", list, "fields", fields}, "parquet-go")
		e.reset()
	}
	roundTrip(t, &e, eventtest.Map{"text", strings.Repeat("x", 1<<24)}, "arrow-go", "parquet-go")
}
