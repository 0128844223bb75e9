package schematest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// Stream is chunks that are written under one schema, one after the other.
type Stream struct {
	Name   string
	Given  string // a given schema; "" learns one
	Strict bool   // of a given schema
	Chunks [][]byte
}

// Odd are streams that try each rule of how a record is walked: what is missing,
// null, unknown, of another type, nested, or outside the record. They
// are the same in every run.
func Odd() []Stream {
	streams := []Stream{
		{Name: "learned evolving", Chunks: evolving()},
		{Name: "learned one of each", Chunks: each(eventtest.Map{"f", 1, "list", []any{1}, "deep", eventtest.Map{"a", 1, "list", []any{eventtest.Map{"b", 1}}}})},
		{Name: "learned groups", Chunks: [][]byte{eventtest.OTLP(2, 20), eventtest.Kubernetes(50), eventtest.Plain(50)}},
	}
	for _, h := range eventtest.HostileChunks() {
		streams = append(streams, Stream{Name: "learned hostile " + h.Name, Chunks: [][]byte{h.Chunk}})
	}
	for _, strict := range []bool{false, true} {
		rules := "lenient "
		if strict {
			rules = "strict "
		}
		for _, typ := range Types() {
			for _, nullable := range []string{typ.Type, `["null",` + typ.Type + `]`, `[` + typ.Type + `,"null"]`} {
				streams = append(streams, Stream{
					Name: fmt.Sprintf("%s%s %.8s", rules, typ.Name, nullable), Strict: strict, Chunks: each(nil),
					Given: record(`{"name":"id","type":"long"},{"name":"f","type":` + nullable + `},{"name":"after","type":"string"}`),
				})
			}
		}
		for _, c := range Conversions() {
			given := record(`{"name":"id","type":"long"},{"name":"f","type":` + c.Type + `},{"name":"after","type":"string"}`)
			streams = append(streams, Stream{Name: rules + "conversion " + c.Name, Given: given, Strict: strict, Chunks: [][]byte{one(0, "f", c.Value)}})
		}
		for _, s := range outside() {
			s.Name, s.Strict = rules+s.Name, strict
			streams = append(streams, s)
		}
	}
	return streams
}

// Choosing is a given schema of which a record may have any part.
func Choosing(keys ...string) string {
	var fields []string
	for _, key := range append(keys, "chosen") {
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":["null","string"],"default":null}`, key))
	}
	return record(strings.Join(fields, ","))
}

// OddUnions are streams like Odd under schemas that only Avro has.
func OddUnions() (streams []Stream) {
	types := []Typed{
		{"two scalars", `["int","string"]`},
		{"null in the middle", `["double","null","boolean"]`},
		{"alone", `["long"]`},
		{"null", `"null"`},
		{"parts", `["null",{"type":"array","items":["long","string"]},{"type":"map","values":["boolean","double"]}]`},
		{"records", `["string",{"type":"record","name":"one","fields":[{"name":"a","type":"long"}]},{"type":"record","name":"two","fields":[{"name":"a","type":"string"},{"name":"b","type":["null","string"]}]}]`},
		{"bytes and enum", `["bytes",{"type":"enum","name":"level","symbols":["info","warn"]},{"type":"fixed","name":"four","size":4}]`},
		{"itself", `["null",{"type":"record","name":"tree","fields":[{"name":"a","type":["long","tree"]},{"name":"c","type":["null","tree"]}]}]`},
	}
	for _, strict := range []bool{false, true} {
		for _, typ := range types {
			for _, more := range []string{"", `,{"name":"_extra","type":["null","string"]}`} {
				streams = append(streams, Stream{
					Name: fmt.Sprintf("union %s strict=%v extra=%v", typ.Name, strict, more != ""), Strict: strict, Chunks: each(nil),
					Given: record(`{"name":"id","type":"long"},{"name":"f","type":` + typ.Type + `},{"name":"after","type":"string"}` + more),
				})
			}
		}
	}
	return streams
}

func record(fields string) string {
	return `{"type":"record","name":"r","fields":[` + fields + `]}`
}

// one is a chunk of one record with the value.
func one(id int, key, value any) []byte {
	m := eventtest.Map{"id", id, key, value, "after", "x"}
	return eventtest.Append(nil, eventtest.Event(eventtest.At(1767225600, 5), eventtest.Map{}, m))
}

// each is a chunk per value of OneOfEach, and one without the field. first, if
// it isn't nil, is the first of them.
func each(first eventtest.Map) (chunks [][]byte) {
	if first != nil {
		chunks = append(chunks, eventtest.Append(nil, eventtest.Event(eventtest.At(1, 0), eventtest.Map{}, first)))
	}
	for i, v := range append(OneOfEach(), []any{1, "x", nil}, []any{eventtest.Map{"b", "x", "new", 1}}, eventtest.Map{"a", 1, "list", []any{eventtest.Map{"b", "x"}, 5, nil}, "more", 1},
		eventtest.Map{"a", eventtest.Map{"a", 5}, "c", eventtest.Map{"a", 1, "c", nil}}, eventtest.Map{"a", true, "b", 1.5}) {
		chunks = append(chunks, one(i, "f", v), one(i, "list", v), one(i, "deep", v))
	}
	return append(chunks, one(-1, "other", 1), one(-2, "other", nil))
}

func evolving() (chunks [][]byte) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 400 {
		chunks = append(chunks, Evolving(r, i))
	}
	return chunks
}

// outside are streams under schemas with defaults, sources, renamed keys and a
// field for the rest, at different places.
func outside() []Stream {
	rest, nullableRest := `{"name":"_extra","type":"string"}`, `{"name":"_extra","type":["string","null"]}`
	sources := []string{
		`{"name":"date","type":"string"}`, `{"name":"date","type":["null","double"]}`, `{"name":"date","type":{"type":"long","logicalType":"timestamp-millis"}}`,
		`{"name":"tag","type":"string"}`, `{"name":"m","type":["null",{"type":"map","values":"string"}],"source":"metadata"}`, `{"name":"g","type":["null","string"],"source":"group"}`,
	}
	defaults := []string{
		`{"name":"f","type":"long","default":7}`, `{"name":"f","type":["null","string"],"default":null,"key":"list"}`, `{"name":"f","type":{"type":"array","items":"long"},"default":[1,2]}`,
		`{"name":"deep","type":{"type":"record","name":"deep","fields":[{"name":"a","type":"long","default":3},{"name":"list","type":{"type":"map","values":["null","long"]},"default":{"k":1}}]}}`,
	}
	var streams []Stream
	for i, s := range append(append([]string{}, sources...), defaults...) {
		for j, fields := range [][]string{{s, rest}, {nullableRest, s}, {`{"name":"id","type":"long"}`, rest, s}, {s, `{"name":"id","type":["null","long"]}`}} {
			streams = append(streams, Stream{
				Name: fmt.Sprintf("beside %d %d", i, j), Given: record(strings.Join(fields, ",")),
				Chunks: append(each(nil), eventtest.OTLP(1, 3), one(0, "date", "2026-03-01"), one(0, "tag", 5)),
			})
		}
	}
	return streams
}
