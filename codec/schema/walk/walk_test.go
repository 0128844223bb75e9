package walk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/walk"
)

// calls is an Emitter that notes what it is told.
type calls struct{ all []string }

func (c *calls) add(format string, args ...any) { c.all = append(c.all, fmt.Sprintf(format, args...)) }

func (c *calls) Mark() int                                 { return len(c.all) }
func (c *calls) Rewind(mark int)                           { c.all = c.all[:mark] }
func (c *calls) Null(t *schema.Type)                       { c.add("null") }
func (c *calls) Bool(t *schema.Type, v bool)               { c.add("%v", v) }
func (c *calls) Long(t *schema.Type, v int64)              { c.add("%s %d", t, v) }
func (c *calls) Double(t *schema.Type, v float64)          { c.add("%s %v", t, v) }
func (c *calls) Bytes(t *schema.Type, b []byte)            { c.add("%s %q", t, b) }
func (c *calls) Symbol(t *schema.Type, i int, text []byte) { c.add("symbol %d %q", i, text) }
func (c *calls) Record(t *schema.Type)                     { c.add("record %s:", t.Record.Name) }
func (c *calls) Begin(t *schema.Type, n int)               { c.add("%s of %d:", t, n) }
func (c *calls) Next(t *schema.Type)                       { c.add("next") }
func (c *calls) Key(t *schema.Type, key []byte)            { c.add("key %q", key) }
func (c *calls) End(t *schema.Type)                        { c.add("end") }
func (c *calls) Branch(t *schema.Type, i int)              { c.add("branch %d", i) }
func (c *calls) Rest(t *schema.Type)                       { c.add("rest") }
func (c *calls) PutRest(t *schema.Type, json []byte)       { c.add("the rest is %q", json) }

func (c *calls) String() string { return strings.Join(c.all, ", ") }

func given(tb testing.TB, fields string, rules schema.Rules) *schema.Schema {
	tb.Helper()
	s, err := schema.Parse([]byte(`{"type":"record","name":"r","fields":[`+fields+`]}`), rules, "date", "tag")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func eventOf(record any) *event.Event {
	events, _ := Read(Append(nil, Event(At(1767225600, 0), Map{}, record)))
	return events[0]
}

// TestCalls is what an emitter is told of a record, or why it is told nothing.
func TestCalls(t *testing.T) {
	const rest = `,{"name":"_extra","type":["null","string"]}`
	rows := []struct {
		name, fields string
		rules        schema.Rules
		record       Map
		want, reason string
	}{
		{"in the schema's order", `{"name":"a","type":"long"},{"name":"b","type":"string"}`, schema.Strict, Map{"b", "x", "a", 1}, `long 1, string "x"`, ""},
		{"of a key that comes twice the last counts", `{"name":"a","type":"long"}`, schema.Strict, Map{"a", 1, "a", 2}, `long 2`, ""},
		{"missing", `{"name":"a","type":"long"}`, schema.Lenient, Map{}, "", "field a: it is missing and has no default"},
		{"a default", `{"name":"a","type":"long","default":7},{"name":"b","type":"long"}`, schema.Strict, Map{"b", 1}, `long 7, long 1`, ""},
		{"a default for null", `{"name":"a","type":"long","default":7},{"name":"b","type":"long"}`, schema.Lenient, Map{"a", nil, "b", 1}, `long 7, long 1`, ""},
		{"defaults alone", `{"name":"a","type":"long","default":7}`, schema.Lenient, Map{"b", 1}, "", codec.NoValue},
		{"nulls alone", `{"name":"a","type":["null","long"]}` + rest, schema.Lenient, Map{"a", nil}, "", codec.NoValue},
		{"the rest alone", `{"name":"a","type":["null","long"]}` + rest, schema.Lenient, Map{"b", 1}, `null, rest, the rest is "{\"b\":1}"`, ""},
		{"the tag alone", `{"name":"tag","type":"string"},{"name":"a","type":["null","long"]}`, schema.Lenient, Map{}, `string "app.log", null`, ""},
		{"null is no value to strict rules", `{"name":"a","type":"long","default":7}`, schema.Strict, Map{"a", nil}, "", "field a: there is no value, and a long is required"},
		{"nullable", `{"name":"a","type":["null","long"]},{"name":"b","type":["long","null"]}`, schema.Strict, Map{"b", 1}, `null, long 1`, ""},
		{"unknown to strict rules", `{"name":"a","type":"long"}`, schema.Strict, Map{"a", 1, "b", 2}, "", `field "b": the schema has no such field`},
		{"unknown to lenient ones", `{"name":"a","type":"long"}`, schema.Lenient, Map{"a", 1, "b", 2}, `long 1`, ""},
		{"unknown, with a field for the rest", `{"name":"a","type":"long"}` + rest, schema.Lenient, Map{"a", 1, "b", Map{"c", 2}}, `long 1, rest, the rest is "{\"b\":{\"c\":2}}"`, ""},
		{"nothing is left over", `{"name":"a","type":"long"}` + rest, schema.Lenient, Map{"a", 1}, `long 1, rest, the rest is ""`, ""},
		{"the time and the tag", `{"name":"date","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"tag","type":"string"}`, schema.Strict, Map{}, `timestamp-millis 1767225600000, string "app.log"`, ""},
		{"a record's own time", `{"name":"date","type":"string"}`, schema.Strict, Map{"date", "now"}, `string "now"`, ""},
		{"a list", `{"name":"a","type":{"type":"array","items":"long"}}`, schema.Strict, Map{"a", []any{1, 2}}, `array of 2:, long 1, next, long 2, end`, ""},
		{"an item of another type", `{"name":"a","type":{"type":"array","items":"long"}}`, schema.Strict, Map{"a", []any{1, "x"}}, "", `field a[1]: a string "x" doesn't fit a long`},
		{"a map", `{"name":"a","type":{"type":"map","values":"boolean"}}`, schema.Strict, Map{"a", Map{"k", true}}, `map of 1:, key "k", true, end`, ""},
		{"a map's value of another type", `{"name":"a","type":{"type":"map","values":"boolean"}}`, schema.Strict, Map{"a", Map{"k", 1}}, "", `field a["k"]: an int "1" doesn't fit a boolean`},
		{"nested", `{"name":"a","type":{"type":"record","name":"n","fields":[{"name":"b","type":"long"}]}}` + rest, schema.Lenient, Map{"a", Map{"b", 1, "c", 2}}, `record n:, long 1, rest, the rest is "{\"a\":{\"c\":2}}"`, ""},
		{"nested, of another type", `{"name":"a","type":{"type":"record","name":"n","fields":[{"name":"b","type":"long"}]}}`, schema.Lenient, Map{"a", Map{"b", "x"}}, "", `field a.b: a string "x" doesn't fit a long`},
		{"an enum", `{"name":"a","type":{"type":"enum","name":"e","symbols":["x","y"]}}`, schema.Strict, Map{"a", "y"}, `symbol 1 "y"`, ""},
		{"the branch of the value's own kind", `{"name":"a","type":["string","long"]}`, schema.Lenient, Map{"a", 1}, `branch 1, long 1`, ""},
		{"a branch that fails is taken back", `{"name":"a","type":[{"type":"record","name":"n","fields":[{"name":"b","type":"long"},{"name":"c","type":"long"}]},{"type":"map","values":"string"}]}`, schema.Strict, Map{"a", Map{"b", "x", "c", "y"}}, `branch 1, map of 2:, key "b", string "x", next, key "c", string "y", end`, ""},
		{"no branch", `{"name":"a","type":["boolean","long"]}`, schema.Strict, Map{"a", "x"}, "", `field a: a string "x" doesn't fit a union`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := given(t, row.fields, row.rules)
			var w walk.Walker
			var c calls
			w.Use(s, s.Root, &c)
			reason := w.Record(eventOf(row.record), &event.Batch{Tag: "app.log", Arrival: time.Unix(1767225600, 0)})
			if got := c.String(); got != row.want || reason != row.reason {
				t.Errorf("got  %s%s\nwant %s%s", got, reason, row.want, row.reason)
			}
		})
	}
}

// TestLearnedHoldsEverything: under a learned schema no sound record is
// rejected, whatever the schema was learned from, and what it has no column for
// comes out to be learned. Then it has.
func TestLearnedHoldsEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		schemas, err := schema.Open(schema.Options{DateKey: "date"})
		if err != nil {
			rt.Fatal(err)
		}
		var w walk.Walker
		for range 3 {
			s := schemas.Begin(&event.Batch{Events: []*event.Event{eventOf(Maps(3).Draw(rt, "learned"))}})
			var c calls
			w.Use(s, s.Root, &c)
			for range 3 {
				e := eventOf(Maps(3).Draw(rt, "record"))
				before := len(c.all)
				if reason := w.Record(e, &event.Batch{}); e.Malformed == "" && reason != "" {
					rt.Fatalf("rejected: %s", reason)
				} else if reason != "" && len(c.all) != before {
					rt.Fatal("a rejected record left something")
				}
				rest := !strings.HasSuffix(c.all[len(c.all)-1], `""`)
				unknown := w.Unknown(1 << 20)
				if rest != (len(unknown) > 0) {
					rt.Fatalf("of %s there is %d bytes to learn", c.all[len(c.all)-1], len(unknown))
				}
				schemas.Learn(unknown)
				w.Reset()
			}
		}
	})
}
