package readers

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// given is a column of a schema that a user wrote, by the name of its type in
// schematest.Types.
type given struct {
	typ         string
	value, want any
	wrong       any // what the type doesn't take, nil for a value that is missing
}

func givens() []given {
	at := func(micros int64) time.Time { return time.UnixMicro(micros) }
	items := l{m{"a", 1, "tags", l{"x", "日志"}}, m{"a", 2, "tags", l{}}}
	return []given{
		{"boolean", "true", true, "yes"},
		{"int", math.MinInt32, math.MinInt32, math.MaxInt32 + 1},
		{"long", "9223372036854775807", int64(math.MaxInt64), uint64(1 << 63)},
		{"float", 0.1, float64(float32(0.1)), 1e300},
		{"double", math.NaN(), math.NaN(), "1,5"},
		{"string", m{"a", l{1}}, `{"a":[1]}`, nil},
		{"bytes", []byte{0, 255}, []byte{0, 255}, 5},
		{"fixed", []byte("abcd"), []byte("abcd"), []byte("abc")},
		{"enum", "warn", "warn", "error"},
		{"date", "2026-03-01", Date(20513), "yesterday"},
		{"time-millis", "12:34:56.789", TimeOfDay(45_296_789 * time.Millisecond), 86_400_000},
		{"time-micros", 45_296_789_012, TimeOfDay(45_296_789_012 * time.Microsecond), -1},
		{"timestamp-millis", "2026-01-01T01:00:00.5+01:00", at(1767225600500000), "soon"},
		{"timestamp-micros", eventtest.EventTime(1767225600, 123456789), at(1767225600123456), true},
		{"uuid", "3f2a8d1e-6f0b-4b52-9a55-0f8f0a7c1b23", "3f2a8d1e-6f0b-4b52-9a55-0f8f0a7c1b23", "3f2a8d1e"},
		{"decimal", "-1.25", Decimal("-1.25"), "1.234"},
		{"fixed decimal", "-123456789.125", Decimal("-123456789.125"), 1_000_000_000},
		{"array", l{1, "2"}, l{1, 2}, l{1, nil}},
		{"array of nullable", l{"a", nil, ""}, l{"a", nil, ""}, m{}},
		{"map", m{"a", 1, "日志", 2}, m{"a", 1, "日志", 2}, m{"a", "x"}},
		{"record", m{"a", 1, "c", 2}, m{"a", 1}, m{"b", "x"}},
		{"list of records", items, items, l{m{"a", 1, "tags", "x"}}},
	}
}

func fieldName(prefix, typ string) string {
	return prefix + strings.NewReplacer(" ", "_", "-", "_").Replace(typ)
}

// givenSchema has each type twice, required and nullable, and what a field can
// be besides.
func givenSchema(columns []given) string {
	types := map[string]string{}
	for _, t := range schematest.Types() {
		types[t.Name] = t.Type
	}
	// A named type is written out once.
	again := map[string]string{
		"fixed": `"four"`, "enum": `"level"`, "fixed decimal": `"money"`, "record": `"inner"`, "list of records": `{"type":"array","items":"item"}`,
	}
	fields := []string{
		`{"name":"date","type":{"type":"long","logicalType":"timestamp-micros"}}`,
		`{"name":"source","source":"tag","key":null,"type":"string"}`,
		`{"name":"number","key":"日志-id","column":"日志","type":"long"}`,
		`{"name":"seven","type":"int","default":7}`,
		`{"name":"none","type":["string","null"],"default":"无"}`,
		`{"name":"local","type":{"type":"long","logicalType":"local-timestamp-micros"}}`,
	}
	for _, c := range columns {
		name, typ := fieldName("", c.typ), types[c.typ]
		fields = append(fields, `{"name":"r_`+name+`","type":`+typ+`}`)
		if a, ok := again[c.typ]; ok {
			typ = a
		}
		fields = append(fields, `{"name":"o_`+name+`","type":["null",`+typ+`],"default":null}`)
	}
	fields = append(fields, `{"name":"_extra","type":["null","string"],"default":null}`)
	return `{"type":"record","name":"app.Event","fields":[` + strings.Join(fields, ",") + `]}`
}

// goodRecord is a record that the schema takes, and what its columns hold. Half
// of those that a stream has between the wrong ones have all that they could do
// without.
func goodRecord(columns []given, id int) (record, want eventtest.Map) {
	at := time.UnixMicro(start*1e6 + 123456)
	record = m{"日志-id", id, "local", "2026-03-01T12:00:00.123456", "unknown", id}
	want = m{"date", at, "source", tag, "日志", id, "seven", 7, "none", "无", "local", Local(time.UnixMicro(1772366400123456)), "_extra", fmt.Sprintf(`{"unknown":%d,"r_record":{"c":2}}`, id)}
	all := id%4 == 2
	if all {
		record = append(record, "seven", 8, "none", "")
		want = append(want, "seven", 8, "none", "", "_extra", fmt.Sprintf(`{"unknown":%d,"r_record":{"c":2},"o_record":{"c":2}}`, id))
	}
	for _, c := range columns {
		record = append(record, fieldName("r_", c.typ), c.value)
		want = append(want, fieldName("r_", c.typ), c.want)
		if all {
			record = append(record, fieldName("o_", c.typ), c.value)
			want = append(want, fieldName("o_", c.typ), c.want)
		}
	}
	return record, want
}

// givenStream has a good record after each one that is wrong, for each column
// required and nullable, six records to a chunk.
func givenStream(columns []given) (chunks []host.Chunk, want []eventtest.Map) {
	var records []eventtest.Map
	good := func() {
		r, w := goodRecord(columns, len(records))
		records, want = append(records, r), append(want, w)
	}
	good()
	for _, c := range columns {
		for _, prefix := range []string{"r_", "o_"} {
			if prefix == "o_" && c.wrong == nil {
				continue
			}
			wrong, _ := goodRecord(columns, len(records))
			records = append(records, append(wrong, fieldName(prefix, c.typ), c.wrong))
			good()
		}
	}
	for from := 0; from < len(records); from += 6 {
		var data []byte
		part := records[from:min(from+6, len(records))]
		for _, r := range part {
			data = eventtest.Append(data, eventtest.Event(eventtest.At(start, 123456789), eventtest.Map{}, r))
		}
		chunks = append(chunks, host.Chunk{Tag: tag, Data: data, Records: uint64(len(part))})
	}
	return chunks, want
}

// givenFor are the columns that Spark has types for, or all.
func givenFor(spark bool) (columns []given) {
	for _, c := range givens() {
		if !spark || !strings.HasPrefix(c.typ, "time-") {
			columns = append(columns, c)
		}
	}
	return columns
}

func givenRows() (all []row) {
	for _, spark := range []bool{false, true} {
		columns, name := givenFor(spark), " given"
		if spark {
			name = " given for Spark"
		}
		file := filepath.Join(scratch, "schema"+strings.ReplaceAll(name, " ", "-")+".avsc")
		if err := os.WriteFile(file, []byte(givenSchema(columns)), 0o644); err != nil {
			panic(err)
		}
		chunks, want := givenStream(columns)
		for format, readers := range map[string][]string{"parquet": parquetReaders, "avro": avroReaders} {
			r := row{
				name: format + name, keys: keys(conf.KeyFormat, format, conf.KeySchema, file),
				chunks: chunks, count: len(want), readers: without(readers, []string{"spark"}),
				want: func(i int, reader string) string {
					w := append(m(nil), want[i]...)
					if reader == "spark" {
						w = append(w, "local", time.Time(field(w, "local").(Local)))
					}
					if format == "avro" {
						w[4] = "number" // the column is Parquet's
					}
					return Canonical(w)
				},
			}
			if spark {
				r.readers = []string{"spark"}
			}
			all = append(all, r)
		}
	}
	return all
}

// TestAWrongTypeIsOneDeadLetter: the records around it were read above. It is
// itself in the dead letters, whole, with its field and the reason.
func TestAWrongTypeIsOneDeadLetter(t *testing.T) {
	s := open(t)
	for _, format := range []string{"parquet", "avro"} {
		t.Run(format, func(t *testing.T) {
			type letter struct {
				Reason, Tag string
				Record      map[string]any
			}
			var letters []letter
			for _, file := range s.written[format+" given"].Letters {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
					var l letter
					if err := json.Unmarshal([]byte(line), &l); err != nil {
						t.Fatalf("%s: %v", line, err)
					}
					letters = append(letters, l)
				}
			}
			id := 1
			for _, c := range givens() {
				for _, prefix := range []string{"r_", "o_"} {
					if prefix == "o_" && c.wrong == nil {
						continue
					}
					if len(letters) == 0 {
						t.Fatalf("record %d is no dead letter", id)
					}
					l := letters[0]
					letters = letters[1:]
					if l.Record["日志-id"] != float64(id) || l.Tag != tag || !strings.HasPrefix(l.Reason, "field "+fieldName(prefix, c.typ)) {
						t.Errorf("%s%s: the letter is %.200v of record %v, want record %d", prefix, c.typ, l.Reason, l.Record["日志-id"], id)
					}
					id += 2
				}
			}
			if len(letters) > 0 {
				t.Errorf("%d letters more, %.300v", len(letters), letters[0])
			}
		})
	}
}
