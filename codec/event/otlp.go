package event

import "encoding/hex"

// IDs is a set of OpenTelemetry's ids.
type IDs uint8

// Fluent Bit's in_opentelemetry (opentelemetry_logs.c) puts them into an event's
// metadata, as bin below otlp.
const (
	TraceID IDs = 1 << iota // trace_id, 16 bytes
	SpanID                  // span_id, 8 bytes
)

// HexIDs appends the metadata to dst, with those of the ids that are bin as
// lower-case hex, as OTLP's JSON and every tool has them. They are told by their
// place alone: some ids happen to be valid UTF-8. changed is false, and dst
// as it was, if there are none.
func HexIDs(dst, meta []byte, which IDs) (_ []byte, changed bool) {
	done := 0 // of meta, in dst
	for f := FieldsOf(meta); f.Next(); {
		if key, ok := Text(f.Key); !ok || string(key) != "otlp" {
			continue
		}
		end := len(meta) - len(f.rest)
		for g := FieldsOf(f.Value); g.Next(); {
			key, _ := Text(g.Key)
			if which&idOf(key) == 0 || KindOf(g.Value) != KindBin {
				continue
			}
			id, _ := Text(g.Value)
			behind := end - len(g.rest)
			dst = append(dst, meta[done:behind-len(g.Value)]...)
			dst = appendStringHead(dst, 2*len(id))
			dst = hex.AppendEncode(dst, id)
			done = behind
		}
	}
	if done == 0 {
		return dst, false
	}
	return append(dst, meta[done:]...), true
}

func idOf(key []byte) IDs {
	switch string(key) {
	case "trace_id":
		return TraceID
	case "span_id":
		return SpanID
	}
	return 0
}
