package event_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

func TestHexIDs(t *testing.T) {
	trace, span := []byte("\x5b\x8e\xff\xf7\x98\x03\x81\x03\xd2\x69\xb6\x33\x81\x3f\xc6\x0c"), []byte("textlike")
	const traceHex, spanHex = "5b8efff798038103d269b633813fc60c", "746578746c696b65"
	both := event.TraceID | event.SpanID
	for _, row := range []struct {
		name       string
		which      event.IDs
		meta, want any // want nil: unchanged
	}{
		{"both, between others", both, Map{"a", 1, "otlp", Map{"severity_number", 9, "trace_id", trace, "x", []byte{1}, "span_id", span, "y", nil}, "z", trace},
			Map{"a", 1, "otlp", Map{"severity_number", 9, "trace_id", traceHex, "x", []byte{1}, "span_id", spanHex, "y", nil}, "z", trace}},
		{"one is asked for", event.TraceID, Map{"otlp", Map{"trace_id", trace, "span_id", span}}, Map{"otlp", Map{"trace_id", traceHex, "span_id", span}}},
		{"an empty one", both, Map{"otlp", Map{"trace_id", []byte{}}}, Map{"otlp", Map{"trace_id", ""}}},
		{"a long one", both, Map{"otlp", Map{"trace_id", bytes.Repeat([]byte{0xab}, 200)}}, Map{"otlp", Map{"trace_id", string(bytes.Repeat([]byte("ab"), 200))}}},
		{"hex already", both, Map{"otlp", Map{"trace_id", traceHex}}, nil},
		{"elsewhere", both, Map{"trace_id", trace, "otlp", Map{"attributes", Map{"trace_id", trace}}}, nil},
		{"otlp is no map", both, Map{"otlp", trace}, nil},
		{"empty", both, Map{}, nil},
		{"no map", both, nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			meta := Pack(row.meta)
			got, changed := event.HexIDs([]byte("x"), meta, row.which)
			if changed != (row.want != nil) {
				t.Fatalf("changed: %v", changed)
			}
			if !changed {
				if string(got) != "x" {
					t.Errorf("dst is %x", got)
				}
				return
			}
			v, n, _, err := Decode(got[1:])
			want, _, _, _ := Decode(Pack(row.want))
			if err != nil || n != len(got)-1 || !bytes.Equal(Pack(v), Pack(want)) {
				t.Errorf("got %v %v, want %v", v, err, want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) { // any map stays a whole one
		meta := Pack(Map{"otlp", Maps(2).Draw(t, "otlp"), "more", Maps(1).Draw(t, "more"), "otlp", Map{"span_id", span}})
		if cut := rapid.IntRange(0, len(meta)).Draw(t, "cut"); rapid.Bool().Draw(t, "damaged") {
			meta = meta[:cut]
		}
		got, changed := event.HexIDs(nil, meta, both)
		if n, ok := event.Span(meta); ok && n == len(meta) {
			if m, ok := event.Span(got); !changed || !ok || m != len(got) {
				t.Fatalf("%x became %x", meta, got)
			}
		}
	})
}
