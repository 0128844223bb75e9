package readers

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
)

type (
	m = eventtest.Map
	l = []any
)

func streams() []stream {
	return []stream{
		numbers(), nullsAndEmpty(), kinds(), names(), times(), largeValues(), sparse(),
		nesting(), manyKeys(), wide(), tooWide(), late(), changing(), noFields(),
	}
}

func numbers() stream {
	tenth := float64(float32(0.1))
	return stream{
		name: "numbers",
		chunks: []hour{{0, []m{
			{"n", int64(math.MaxInt64), "u", uint64(math.MaxUint64), "f", math.NaN(), "mix", 1.5},
			{"n", int64(math.MinInt64), "u", 5, "f", math.Inf(1), "mix", 3},
			{"n", 0, "u", uint64(1 << 63), "f", math.Inf(-1), "mix", 1 << 53},
			{"n", -1, "f", math.Copysign(0, -1), "mix", int64(1<<53 + 1)},
			{"f", 5e-324}, {"f", math.MaxFloat64}, {"f", float32(0.1)},
		}}},
		want: []m{
			{"n", int64(math.MaxInt64), "u", "18446744073709551615", "f", math.NaN(), "mix", 1.5},
			{"n", int64(math.MinInt64), "u", "5", "f", math.Inf(1), "mix", 3.0},
			{"n", 0, "u", "9223372036854775808", "f", math.Inf(-1), "mix", float64(1 << 53)},
			// No double is that integer.
			{"n", -1, "f", math.Copysign(0, -1), "_extra", `{"mix":9007199254740993}`},
			{"f", 5e-324}, {"f", math.MaxFloat64}, {"f", tenth},
		},
	}
}

func nullsAndEmpty() stream {
	return stream{
		name: "nulls and empty",
		chunks: []hour{{0, []m{
			{"id", 0, "s", nil, "l", nil, "m", nil},
			{"id", 1, "s", "", "l", l{}, "m", m{}},
			{"id", 2, "s", "x", "l", l{nil, "", "y"}, "m", m{"k", nil}},
			{},
			{"id", 4, "s", "null", "l", l{"a"}, "m", m{"k", "", "j", nil}},
		}}},
		want: []m{
			{"id", 0},
			{"id", 1, "s", "", "l", l{}, "m", m{}},
			{"id", 2, "s", "x", "l", l{nil, "", "y"}, "m", m{}},
			{},
			{"id", 4, "s", "null", "l", l{"a"}, "m", m{"k", ""}},
		},
	}
}

func kinds() stream {
	at := eventtest.EventTime(start, 5)
	return stream{
		name: "kinds",
		chunks: []hour{{0, []m{
			{"flag", true, "bin", []byte{0, 255}, "ext", eventtest.Ext{Type: 5, Data: []byte("a")}, "at", at, "mix", 1},
			{"flag", false, "bin", []byte{}, "mix", "a"},
			{"mix", true}, {"mix", 1.0}, {"mix", l{1, "x"}}, {"mix", m{"k", "v"}}, {"mix", []byte("ab")}, {"mix", nil},
			{"mix", "日志🙂"}, {"mix", "a\xffb"},
		}}},
		want: []m{
			{"flag", true, "bin", []byte{0, 255}, "ext", `{"type":5,"data":"YQ=="}`,
				"at", `{"type":0,"data":"` + base64.StdEncoding.EncodeToString(at.Data) + `"}`, "mix", "1"},
			{"flag", false, "bin", []byte{}, "mix", "a"},
			{"mix", "true"}, {"mix", "1.0"}, {"mix", `[1,"x"]`}, {"mix", `{"k":"v"}`}, {"mix", "ab"}, {},
			{"mix", "日志🙂"}, {"mix", "a\uFFFDb"},
		},
	}
}

func names() stream {
	long := strings.Repeat("k", 256)
	return stream{
		name:  "names",
		pairs: []string{conf.KeyJSONDateKey, "date", conf.KeyJSONTagKey, "tag"},
		chunks: []hour{{0, []m{{
			"a.b", 1, "a_b", 2, "x-y", 3, "日志", 4, "", 5, "1st", 6, "ID", 7, "id", 8, "_extra", 9, "date", 10, "tag", 11, 5, 12,
			"twice", 0, "with space", 13, "twice", 14, long, 15, long[1:], 16, "emoji🙂", 17, "select", 18,
			"nested", m{"a.b", 19, "a_b", 20, "", 21, "X", 22, "x", 23},
		}}}},
		want: []m{{
			"date", time.UnixMicro(start*1e6 + 123456), "tag", tag,
			"a_b", 1, "a_b_1", 2, "x-y", 3, "日志", 4, "_", 5, "1st", 6, "ID", 7, "id_1", 8, "_extra_1", 9, "date_1", 10, "tag_1", 11, "5", 12,
			"with_space", 13, "twice", 14, long[1:], 16, "emoji🙂", 17, "select", 18,
			"nested", m{"a_b", 19, "a_b_1", 20, "_", 21, "X", 22, "x_1", 23},
			"_extra", `{"` + long + `":15}`,
		}},
		avro: map[string]string{"x-y": "x_y", "日志": "__", "1st": "_1st", "5": "_5", "emoji🙂": "emoji_"},
	}
}

// times go to the microsecond, and none of the record's is mistaken for them.
func times() stream {
	return stream{
		name:   "times",
		pairs:  []string{conf.KeyJSONDateKey, "ts", conf.KeyAssigner, "base_path"},
		chunks: []hour{{0, []m{{"id", 0, "ts", "mine"}}}, {100_000, []m{{"id", 1}}}, {640_000, []m{{"id", 2}}}},
		want: []m{
			{"ts", time.UnixMicro(start*1e6 + 123456), "id", 0, "ts_1", "mine"},
			{"ts", time.UnixMicro((start+3600*100_000)*1e6 + 123456), "id", 1},
			{"ts", time.UnixMicro((start+3600*640_000)*1e6 + 123456), "id", 2},
		},
	}
}

func largeValues() stream {
	text := func(of string) string { return strings.Repeat(of, 1<<20/len(of)) }
	records := []m{
		{"s", text("长\"x\n"), "l", l{text("a"), "", text("b")}}, {"s", "small", "bin", []byte(text("\x00\xff"))[:300_000]},
		{"s", text("y")}, {"s", ""}, {"s", text("长\"x\n"), "l", l{}},
	}
	return stream{name: "large", chunks: []hour{{0, records}}, want: records}
}

// sparse has a value, none for thousands of records, and values again.
func sparse() stream {
	var records []m
	for i := range 8000 {
		r := m{"id", i}
		if i == 0 || i > 7000 {
			r = append(r, "n", i, "s", fmt.Sprint(i), "l", l{i, nil}, "m", m{"k", i}, "b", i%2 == 0)
		}
		records = append(records, r)
	}
	return stream{name: "sparse", chunks: []hour{{0, records[:3]}, {0, records[3:7500]}, {0, records[7500:]}}, want: records}
}

// nested is the value under n maps.
func nested(n int, v any) any {
	for range n {
		v = m{"d", v}
	}
	return v
}

// listed is the value in n lists.
func listed(n int, v any) any {
	for range n {
		v = l{v}
	}
	return v
}

func nesting() stream {
	return stream{
		name: "nesting",
		chunks: []hour{{0, []m{
			{"ll", l{l{1, 2}, l{}, nil, l{nil, 3}}, "lm", l{m{"a", 1}, m{"b", "x"}, m{}, nil}, "mm", m{"a", m{"b", m{"c", 1}}}},
			{"ml", m{"l", l{m{"l", l{l{"x"}, l{}}}, m{}}}},
			{"d", nested(11, 1), "dl", listed(10, 7)},
			{"d", nested(7, nil), "dl", listed(6, nil)},
		}}},
		want: []m{
			{"ll", l{l{1, 2}, l{}, nil, l{nil, 3}}, "lm", l{m{"a", 1}, m{"b", "x"}, m{}, nil}, "mm", m{"a", m{"b", m{"c", 1}}}},
			{"ml", m{"l", l{m{"l", l{l{"x"}, l{}}}, m{}}}},
			// The record is the first level, so eight more hold 4 of 12.
			{"d", nested(7, `{"d":{"d":{"d":{"d":1}}}}`), "dl", listed(7, "[[[7]]]")},
			{"d", nested(7, nil), "dl", listed(6, nil)},
		},
	}
}

// manyKeys is a map with data for keys, and one that is just small enough.
func manyKeys() stream {
	var most, more m
	var text []string
	for i := range 128 {
		most = append(most, fmt.Sprintf("k%03d", i), i)
	}
	for i := range 129 {
		more = append(more, fmt.Sprintf("k%03d", i), i)
		text = append(text, fmt.Sprintf(`"k%03d":%d`, i, i))
	}
	return stream{
		name:   "many keys",
		chunks: []hour{{0, []m{{"most", most, "more", more}, {"most", m{}, "more", m{}}, {"more", m{"other", nil}}}}},
		want:   []m{{"most", most, "more", "{" + strings.Join(text, ",") + "}"}, {"most", m{}, "more", "{}"}, {"more", `{"other":null}`}},
	}
}

// fields are c<from> to c<to>, each with a value of its own.
func fields(from, to, record int) (all m) {
	for i := from; i < to; i++ {
		switch {
		case i%3 == 0:
			all = append(all, fmt.Sprintf("c%04d", i), i*1000+record)
		case record%2 == 0:
			all = append(all, fmt.Sprintf("c%04d", i), fmt.Sprint("value ", i, " of ", record))
		}
	}
	return all
}

func wide() stream {
	var records []m
	for i := range 60 {
		records = append(records, fields(0, 2000, i))
	}
	return stream{name: "wide", chunks: []hour{{0, records}}, want: records}
}

// tooWide has more fields than there are columns.
func tooWide() stream {
	var rest []string
	for i := 2048; i < 2060; i++ {
		rest = append(rest, fmt.Sprintf(`"c%04d":%d`, i, i))
	}
	plain := func(to int) (all m) {
		for i := range to {
			all = append(all, fmt.Sprintf("c%04d", i), i)
		}
		return all
	}
	return stream{
		name:    "too wide",
		chunks:  []hour{{0, []m{plain(2060), plain(10)}}},
		want:    []m{append(plain(2048), "_extra", "{"+strings.Join(rest, ",")+"}"), plain(10)},
		without: []string{"spark"}, // nothing that wide doesn't show, and slow
	}
}

// late is a column that is null for thousands of records. The open part has
// none for its values, the next part does.
func late() stream {
	var nulls, values, next, want []m
	for i := range 3000 {
		nulls = append(nulls, m{"id", i, "n", nil, "m", m{}, "l", l{}})
		want = append(want, m{"id", i, "_extra", `{"m":{},"l":[]}`})
	}
	for i := range 20 {
		values = append(values, m{"id", i, "n", i, "m", m{"k", i}, "l", l{i}})
		want = append(want, m{"id", i, "_extra", fmt.Sprintf(`{"n":%d,"m":{"k":%d},"l":[%d]}`, i, i, i)})
	}
	for i := range 20 {
		next = append(next, m{"id", i, "n", i, "m", m{"k", i}, "l", l{i}})
	}
	return stream{
		name: "late", ahead: true,
		chunks: []hour{{0, nulls}, {0, values}, {1, next}},
		want:   append(want, next...),
	}
}

// changing is a field that is long, then double, then text, and a list and a
// map likewise.
func changing() stream {
	return stream{
		name: "changing", ahead: true,
		chunks: []hour{
			{0, []m{{"v", 1, "l", l{1, 2}, "m", m{"k", 1}}}},
			{0, []m{{"v", 2.5, "l", l{1, "x", 3}, "m", m{"k", true, "j", 2}}}},
			{1, []m{{"v", 3, "l", l{4}, "m", m{"k", 5, "j", 6}}}},
			{1, []m{{"v", "x"}}},
			{2, []m{{"v", 4}, {"v", 2.5}, {"v", "y"}, {"v", m{"k", l{}}}}},
		},
		want: []m{
			{"v", 1, "l", l{1, 2}, "m", m{"k", 1}},
			{"l", l{1, nil, 3}, "m", m{}, "_extra", `{"v":2.5,"l":[1,"x",3],"m":{"k":true,"j":2}}`},
			{"v", 3.0, "l", l{"4"}, "m", m{"k", "5", "j", 6}},
			{"_extra", `{"v":"x"}`},
			{"v", "4"}, {"v", "2.5"}, {"v", "y"}, {"v", `{"k":[]}`},
		},
	}
}

// noFields begins with records that have none.
func noFields() stream {
	return stream{
		name: "no fields", ahead: true,
		chunks: []hour{{0, []m{{}, {"a", nil}}}, {0, []m{{"a", 1}}}, {1, []m{{"a", 2}, {}}}},
		want:   []m{{}, {}, {"_extra", `{"a":1}`}, {"a", 2}, {}},
	}
}
