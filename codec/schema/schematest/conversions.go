package schematest

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// Typed is a column type in Avro's JSON.
type Typed struct{ Name, Type string }

// Types are all column types that Parquet and Avro share.
func Types() []Typed {
	logical := func(base, name string) string { return `{"type":"` + base + `","logicalType":"` + name + `"}` }
	return []Typed{
		{"boolean", `"boolean"`}, {"int", `"int"`}, {"long", `"long"`}, {"float", `"float"`}, {"double", `"double"`},
		{"string", `"string"`}, {"bytes", `"bytes"`},
		{"fixed", `{"type":"fixed","name":"four","size":4}`},
		{"enum", `{"type":"enum","name":"level","symbols":["info","warn"]}`},
		{"date", logical("int", "date")},
		{"time-millis", logical("int", "time-millis")},
		{"time-micros", logical("long", "time-micros")},
		{"timestamp-millis", logical("long", "timestamp-millis")},
		{"timestamp-micros", logical("long", "timestamp-micros")},
		{"uuid", logical("string", "uuid")},
		{"decimal", `{"type":"bytes","logicalType":"decimal","precision":5,"scale":2}`},
		{"fixed decimal", `{"type":"fixed","name":"money","size":8,"logicalType":"decimal","precision":12,"scale":3}`},
		{"array", `{"type":"array","items":"long"}`},
		{"array of nullable", `{"type":"array","items":["null","string"]}`},
		{"map", `{"type":"map","values":"long"}`},
		{"record", `{"type":"record","name":"inner","fields":[{"name":"a","type":"long"},{"name":"b","type":["null","string"]}]}`},
		{"list of records", `{"type":"array","items":{"type":"record","name":"item","fields":[{"name":"a","type":"long"},{"name":"tags","type":{"type":"array","items":"string"}}]}}`},
	}
}

// OneOfEach are one of every kind of value, and the edges of each.
func OneOfEach() []any {
	return []any{
		nil, true, false, 0, 1, -1, 255, math.MaxInt32, int64(math.MaxInt32) + 1, int64(math.MinInt64), int64(math.MaxInt64),
		uint64(math.MaxUint64), 0.0, 1.5, -2.0, 1e300, math.NaN(), math.Inf(-1), float32(0.1), float32(3),
		"", "info", "5", "-1.25", "abcd", "true", "2026-03-01T12:00:00.123456Z", "2026-03-01", "12:34:56.789", "\xff\xfe",
		"3f2a8d1e-6f0b-4b52-9a55-0f8f0a7c1b23", strings.Repeat("長", 10_000), []byte{}, []byte{1, 2, 3, 4}, []byte("text"),
		eventtest.Ext{Type: 0, Data: []byte{0x69, 0, 0, 0, 0, 0, 0, 0}}, eventtest.Ext{Type: -1, Data: []byte{0x69, 0, 0, 0}}, eventtest.Ext{Type: 5, Data: nil}, eventtest.Ext{Type: 0, Data: []byte{1}},
		[]any{}, []any{1, 2}, []any{nil}, []any{"x"}, []any{eventtest.Map{"a", 1, "tags", []any{"t"}}}, []any{eventtest.Map{"a", 1}}, []any{[]any{1}},
		eventtest.Map{}, eventtest.Map{"a", 1}, eventtest.Map{"a", 1, "b", "x"}, eventtest.Map{"a", "x"}, eventtest.Map{"a", 1, "a", 2}, eventtest.Map{1, 2}, eventtest.Map{"c", eventtest.Map{}}, eventtest.Map{"a", nil},
	}
}

// Conversion is one row of the documented rules: what a column of a type
// holds after a value was written to it, as Text has it. An empty text is a
// record that is rejected.
type Conversion struct {
	Name            string
	Type            string
	Value           any
	Lenient, Strict string
}

// Conversions are the rules of docs/schemas.md.
func Conversions() []Conversion {
	byName := map[string]string{}
	for _, t := range Types() {
		byName[t.Name] = t.Type
	}
	second := eventtest.Ext{Type: 0, Data: []byte{0x69, 0x55, 0xb9, 0, 0x07, 0x5b, 0xcd, 0x15}} // 2026-01-01T00:00:00.123456789Z
	rows := []struct {
		typ             string
		value           any
		lenient, strict string
	}{
		{"boolean", true, "true", "true"}, {"boolean", "false", "false", ""}, {"boolean", 1, "true", ""}, {"boolean", 2, "", ""}, {"boolean", "yes", "", ""},
		{"int", 7, "7", "7"}, {"int", math.MaxInt32 + 1, "", ""}, {"int", "7", "7", ""}, {"int", 7.0, "7", ""}, {"int", 7.5, "", ""}, {"int", true, "", ""},
		{"long", int64(math.MaxInt64), "9223372036854775807", "9223372036854775807"}, {"long", uint64(1 << 63), "", ""},
		{"long", "9223372036854775808", "", ""}, {"long", " 7", "", ""}, {"long", 1e18, "1000000000000000000", ""}, {"long", 1e19, "", ""}, {"long", math.NaN(), "", ""},
		{"long", second, "1767225600", ""},
		{"float", 0.5, "0.5", "0.5"}, {"float", float32(0.1), "0.1", "0.1"}, {"float", 0.1, "0.1", ""}, {"float", 1e300, "", ""}, {"float", 16777217, "1.6777216e+07", ""},
		{"double", 0.1, "0.1", "0.1"}, {"double", 5, "5", "5"}, {"double", int64(1<<53 + 1), "", ""}, {"double", "2.5", "2.5", ""}, {"double", "x", "", ""},
		{"double", math.NaN(), "NaN", "NaN"}, {"double", math.Inf(1), "+Inf", "+Inf"}, {"double", uint64(1 << 63), "9.223372e+18", "9.223372e+18"},
		{"string", "text", "text", "text"}, {"string", "", "empty", "empty"}, {"string", 5, "5", ""}, {"string", true, "true", ""}, {"string", 1.0, "1.0", ""},
		{"string", []byte("ab"), "ab", "ab"}, {"string", eventtest.Map{"a", []any{1}}, `{"a":[1]}`, ""}, {"string", "a\xffb", "a\uFFFDb", "a\uFFFDb"},
		{"string", second, "2026-01-01T00:00:00.123456Z", ""}, {"string", eventtest.Ext{Type: 5, Data: []byte("a")}, `{"type":5,"data":"YQ=="}`, ""},
		{"bytes", []byte{0, 255}, "00ff", "00ff"}, {"bytes", "ab", "6162", ""}, {"bytes", 5, "", ""},
		{"fixed", []byte("abcd"), "61626364", "61626364"}, {"fixed", []byte("abc"), "", ""}, {"fixed", "abcd", "61626364", ""},
		{"enum", "warn", "warn", "warn"}, {"enum", "error", "", ""}, {"enum", 1, "", ""},
		{"date", 1, "1970-01-02", "1970-01-02"}, {"date", "2026-03-01", "2026-03-01", ""}, {"date", second, "2026-01-01", "2026-01-01"}, {"date", "yesterday", "", ""}, {"date", -1, "1969-12-31", "1969-12-31"},
		{"time-millis", 1000, "00:00:01", "00:00:01"}, {"time-millis", "12:34:56.789", "12:34:56.789", ""}, {"time-millis", 86400000, "", ""}, {"time-millis", -1, "", ""},
		{"time-micros", 1500000, "00:00:01.5", "00:00:01.5"}, {"time-micros", second, "00:00:00.123456", "00:00:00.123456"},
		{"timestamp-millis", 1767225600123, "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123Z"}, {"timestamp-millis", second, "2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123Z"},
		{"timestamp-millis", "2026-01-01T01:00:00.5+01:00", "2026-01-01T00:00:00.5Z", ""},
		{"timestamp-micros", "2026-01-01 00:00:00", "2026-01-01T00:00:00Z", ""}, {"timestamp-micros", 1767225600.25, "2026-01-01T00:00:00.25Z", ""},
		{"timestamp-micros", -1, "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"}, {"timestamp-micros", "soon", "", ""}, {"timestamp-micros", math.NaN(), "", ""},
		{"uuid", "3F2A8D1E-6f0b-4b52-9a55-0f8f0a7c1b23", "3F2A8D1E-6f0b-4b52-9a55-0f8f0a7c1b23", "3F2A8D1E-6f0b-4b52-9a55-0f8f0a7c1b23"}, {"uuid", "3f2a8d1e", "", ""}, {"uuid", 5, "", ""},
		{"decimal", 12, "12.00", "12.00"}, {"decimal", "-1.25", "-1.25", ""}, {"decimal", 0.5, "0.50", ""}, {"decimal", "1.234", "", ""}, {"decimal", 1000, "", ""}, {"decimal", "999.99", "999.99", ""},
		{"decimal", "-999.99", "-999.99", ""}, {"decimal", "1e2", "100.00", ""}, {"decimal", "", "", ""}, {"decimal", "1-2", "", ""}, {"decimal", []byte{0xff}, "-0.01", "-0.01"},
		{"decimal", -128, "-128.00", "-128.00"}, {"decimal", 0, "0.00", "0.00"}, {"fixed decimal", "-123456789.125", "-123456789.125", ""}, {"fixed decimal", -1, "-1.000", "-1.000"},
		{"array", []any{1, 2}, "[1 2]", "[1 2]"}, {"array", []any{}, "[]", "[]"}, {"array", []any{1, "2"}, "[1 2]", ""}, {"array", []any{1, nil}, "", ""}, {"array", 1, "", ""}, {"array", eventtest.Map{}, "", ""},
		{"array of nullable", []any{"a", nil, ""}, "[a null empty]", "[a null empty]"},
		{"map", eventtest.Map{"a", 1, "b", 2}, "{a=1 b=2}", "{a=1 b=2}"}, {"map", eventtest.Map{}, "{}", "{}"}, {"map", eventtest.Map{"a", 1, "a", 2}, "{a=2}", "{a=2}"}, {"map", eventtest.Map{5, 1}, "{5=1}", "{5=1}"}, {"map", eventtest.Map{"a", "x"}, "", ""}, {"map", []any{}, "", ""},
		{"record", eventtest.Map{"a", 1}, "{a=1 b=null}", "{a=1 b=null}"}, {"record", eventtest.Map{"b", "x", "a", 2}, "{a=2 b=x}", "{a=2 b=x}"}, {"record", eventtest.Map{"a", 1, "more", 2}, "{a=1 b=null}", ""}, {"record", eventtest.Map{}, "", ""}, {"record", eventtest.Map{"a", nil}, "", ""},
		{"list of records", []any{eventtest.Map{"a", 1, "tags", []any{"x", "y"}}, eventtest.Map{"a", 2, "tags", []any{}}}, "[{a=1 tags=[x y]} {a=2 tags=[]}]", "[{a=1 tags=[x y]} {a=2 tags=[]}]"},
		{"list of records", []any{eventtest.Map{"a", 1, "tags", "x"}}, "", ""},
		{"string", []byte{0xff, 'a'}, "data:;base64,/2E=", ""}, {"string", "data:;base64,x", "data:;base64,ZGF0YTo7YmFzZTY0LHg=", "data:;base64,ZGF0YTo7YmFzZTY0LHg="},
		{"long", []byte("7"), "7", ""}, {"boolean", []byte("true"), "true", ""}, {"enum", []byte("warn"), "warn", "warn"}, {"uuid", []byte("3f2a8d1e-6f0b-4b52-9a55-0f8f0a7c1b23"), "3f2a8d1e-6f0b-4b52-9a55-0f8f0a7c1b23", "3f2a8d1e-6f0b-4b52-9a55-0f8f0a7c1b23"},
		{"timestamp-millis", []byte("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00Z", ""}, {"timestamp-millis", "1767225600123", "2026-01-01T00:00:00.123Z", ""},
		{"timestamp-millis", "Thu, 01 Jan 2026 00:00:00 GMT", "2026-01-01T00:00:00Z", ""}, {"timestamp-micros", "20260101T000000Z", "2026-01-01T00:00:00Z", ""}, {"date", "20260301", "2026-03-01", ""},
		{"date", 20260301, "", ""}, {"date", 2932896, "9999-12-31", "9999-12-31"}, {"date", 2932897, "", ""}, {"date", -719163, "", ""},
		{"timestamp-millis", 1767225600123456, "", ""}, {"timestamp-micros", 1767225600123456789, "", ""}, {"timestamp-millis", -62135596800001, "", ""}, {"timestamp-micros", 1e13, "", ""},
		{"time-millis", "24:00:00", "", ""}, {"time-micros", int64(86400e6), "", ""}, {"time-millis", 86400.5, "", ""},
		{"decimal", 99999, "", ""}, {"decimal", "1000.00", "", ""}, {"decimal", []byte{0x7f, 0xff, 0xff}, "", ""}, {"fixed decimal", 1e10, "", ""},
	}
	var all []Conversion
	for i, r := range rows {
		typ, ok := byName[r.typ]
		if !ok {
			panic("schematest: no type " + r.typ)
		}
		all = append(all, Conversion{fmt.Sprintf("%s %d %.40v", r.typ, i, r.value), typ, r.value, r.lenient, r.strict})
	}
	return all
}

// Text shows a value as a reader of either format returned it.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		if short := strconv.FormatFloat(v, 'g', -1, 32); float64(float32(v)) == v && len(short) < 20 {
			if f, err := strconv.ParseFloat(short, 32); err == nil && f == v {
				return short
			}
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		if v == "" {
			return "empty"
		}
		return v
	case []byte:
		return hex.EncodeToString(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return time.Time{}.Add(v).Format("15:04:05.999999")
	case *big.Rat:
		return v.FloatString(2)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = Text(x)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any:
		var parts []string
		for k := 'a'; k <= 'z'; k++ { // the tables' keys are single letters, digits, or tags
			if x, ok := v[string(k)]; ok {
				parts = append(parts, string(k)+"="+Text(x))
			}
		}
		for k := '0'; k <= '9'; k++ {
			if x, ok := v[string(k)]; ok {
				parts = append(parts, string(k)+"="+Text(x))
			}
		}
		if x, ok := v["tags"]; ok {
			parts = append(parts, "tags="+Text(x))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprint(v)
}
