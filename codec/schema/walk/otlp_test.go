package walk_test

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/walk"
)

// TestIDsOfOpenTelemetry: the ids in an event's metadata are hex wherever the
// schema has text for them, and their bytes where it has bytes.
func TestIDsOfOpenTelemetry(t *testing.T) {
	meta := Map{"otlp", Map{"trace_id", []byte("sixteen letters!"), "span_id", []byte{1, 2, 3, 4, 5, 6, 7, 255}, "severity_number", 9}}
	const trace, span = "7369787465656e206c65747465727321", "01020304050607ff"
	otlp := func(fields string) string {
		return `{"name":"meta","source":"metadata","type":{"type":"record","name":"meta","fields":[{"name":"otlp","type":{"type":"record","name":"otlp","fields":[` + fields + `]}}]}}`
	}
	for _, row := range []struct{ name, fields, want string }{
		{"as text", `{"name":"meta","source":"metadata","type":"string"}`, `string "{\"otlp\":{\"trace_id\":\"` + trace + `\",\"span_id\":\"` + span + `\",\"severity_number\":9}}"`},
		{"as a map of text", `{"name":"meta","source":"metadata","type":{"type":"map","values":{"type":"map","values":"string"}}}`,
			`map of 1:, key "otlp", map of 3:, key "trace_id", string "` + trace + `", next, key "span_id", string "` + span + `", next, key "severity_number", string "9", end, end`},
		{"in columns of text", otlp(`{"name":"trace_id","type":"string"},{"name":"span_id","type":["null","string"]}`),
			`record meta:, record otlp:, string "` + trace + `", string "` + span + `"`},
		{"in columns of bytes", otlp(`{"name":"trace_id","type":{"type":"fixed","name":"trace","size":16}},{"name":"span_id","type":"bytes"}`),
			`record meta:, record otlp:, fixed "sixteen letters!", bytes "\x01\x02\x03\x04\x05\x06\a\xff"`},
		{"in one of each", otlp(`{"name":"trace_id","type":"bytes"},{"name":"span_id","type":"string"}`),
			`record meta:, record otlp:, bytes "sixteen letters!", string "` + span + `"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out calls
			var w walk.Walker
			s := given(t, row.fields, schema.Lenient)
			w.Use(s, s.Root, &out)
			events, _ := Read(Append(nil, Event(At(1767225600, 0), meta, Map{"a", 1})))
			if reason := w.Record(events[0], &event.Batch{}); reason != "" || out.String() != row.want {
				t.Errorf("got  %s %s\nwant %s", out.String(), reason, row.want)
			}
		})
	}
}
