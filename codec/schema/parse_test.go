package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linkedin/goavro/v2"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

func record(fields string) string { return `{"type":"record","name":"r","fields":[` + fields + `]}` }

func parse(text string) (*schema.Schema, error) {
	return schema.Parse([]byte(text), schema.Lenient, "date", "tag")
}

// TestMistakes: each is found, and named in words that the file's author
// knows.
func TestMistakes(t *testing.T) {
	rows := []struct{ name, text, says string }{
		{"no JSON", `{"type":`, "not JSON"},
		{"two schemas", record(`{"name":"a","type":"long"}`) + "{}", "follows"},
		{"no record", `"long"`, "write a record"},
		{"nullable", `["null",` + record(`{"name":"a","type":"long"}`) + `]`, "write a record"},
		{"no fields", record(``), "no fields"},
		{"no name", `{"type":"record","fields":[{"name":"a","type":"long"}]}`, "no name"},
		{"a field's name", record(`{"name":"x-y","type":"long"}`), `as "key"`},
		{"a field twice", record(`{"name":"a","type":"long"},{"name":"a","type":"long"}`), "twice"},
		{"a key twice", record(`{"name":"a","type":"long"},{"name":"b","type":"long","key":"a"}`), "twice"},
		{"a column twice", record(`{"name":"a","type":"long"},{"name":"b","type":"long","column":"a"}`), "twice"},
		{"no type", record(`{"name":"a"}`), "no type"},
		{"unknown type", record(`{"name":"a","type":"text"}`), `"text"`},
		{"unknown source", record(`{"name":"a","type":"long","source":"clock"}`), "time, tag"},
		{"a source of another type", record(`{"name":"a","type":"boolean","source":"time"}`), "time"},
		{"two rests", record(`{"name":"a","type":"string","source":"rest"},{"name":"b","type":"string","source":"rest"}`), "more than one"},
		{"a key that is no text", record(`{"name":"a","type":"long","key":5}`), "key"},
		{"an empty union", record(`{"name":"a","type":[]}`), "needs a type"},
		{"a union in a union", record(`{"name":"a","type":["int",["null","long"]]}`), "union"},
		{"a branch twice", record(`{"name":"a","type":["int","int"]}`), "twice"},
		{"a logical type on another", record(`{"name":"a","type":{"type":"string","logicalType":"date"}}`), "int"},
		{"a decimal without digits", record(`{"name":"a","type":{"type":"bytes","logicalType":"decimal"}}`), "precision"},
		{"a decimal with too many digits", record(`{"name":"a","type":{"type":"bytes","logicalType":"decimal","precision":39}}`), "38"},
		{"a scale beyond the precision", record(`{"name":"a","type":{"type":"bytes","logicalType":"decimal","precision":2,"scale":3}}`), "scale"},
		{"a decimal too small", record(`{"name":"a","type":{"type":"fixed","name":"f","size":1,"logicalType":"decimal","precision":9}}`), "too small"},
		{"a fixed without a size", record(`{"name":"a","type":{"type":"fixed","name":"f"}}`), "size"},
		{"an enum without symbols", record(`{"name":"a","type":{"type":"enum","name":"e","symbols":[]}}`), "no symbols"},
		{"a symbol twice", record(`{"name":"a","type":{"type":"enum","name":"e","symbols":["A","A"]}}`), "once"},
		{"a type defined twice", record(`{"name":"a","type":{"type":"fixed","name":"f","size":1}},{"name":"b","type":{"type":"fixed","name":"f","size":2}}`), "defined twice"},
		{"a default of another type", record(`{"name":"a","type":"long","default":"x"}`), "default"},
		{"a default out of range", record(`{"name":"a","type":"int","default":4000000000}`), "default"},
		{"a null default", record(`{"name":"a","type":"long","default":null}`), "default"},
		{"a type's name", `{"type":"record","name":"x-y","fields":[{"name":"a","type":"long"}]}`, "letters, digits"},
		{"a type's name below", record(`{"name":"a","type":{"type":"fixed","name":"1st","size":1}}`), "letters, digits"},
		{"a field's name with a dot", record(`{"name":"x.y","type":"long"}`), `as "key"`},
		{"a symbol", record(`{"name":"a","type":{"type":"enum","name":"e","symbols":["x y"]}}`), "letters, digits"},
		{"an enum that lacks symbols", record(`{"name":"a","type":{"type":"enum","name":"e"}}`), "no symbols"},
		{"a record that lacks fields", `{"type":"record","name":"r"}`, "fields"},
		{"an array that lacks items", record(`{"name":"a","type":{"type":"array"}}`), "items"},
		{"a field that is none", record(`"a"`), "field 1"},
		{"a type that is none", record(`{"name":"a","type":5}`), "type"},
		{"a type before it is written out", record(`{"name":"a","type":"f"},{"name":"b","type":{"type":"fixed","name":"f","size":1}}`), "first used"},
		{"a named branch twice", record(`{"name":"a","type":{"type":"fixed","name":"f","size":1}},{"name":"b","type":["f","f"]}`), "twice"},
		{"a branch twice, with another meaning", record(`{"name":"a","type":["long",{"type":"long","logicalType":"timestamp-millis"}]}`), "twice"},
		{"a symbol as default that isn't one", record(`{"name":"a","type":{"type":"enum","name":"e","symbols":["A"]},"default":"B"}`), "default"},
		{"a default of the items' type", record(`{"name":"a","type":{"type":"array","items":"long"},"default":["x"]}`), "default"},
		{"a logical type beside the type", record(`{"name":"ts","type":"long","logicalType":"timestamp-millis"}`), `field "ts": its logical type stands beside the type, where no reader looks for it; write "type": {"logicalType":"timestamp-millis","type":"long"}`},
		{"a logical type beside a nullable type", record(`{"name":"ts","type":["null","int"],"logicalType":"date","default":null}`), `write "type": ["null",{"logicalType":"date","type":"int"}]`},
		{"a decimal beside its type", record(`{"name":"p","type":"bytes","logicalType":"decimal","precision":9,"scale":2}`), `write "type": {"logicalType":"decimal","precision":9,"scale":2,"type":"bytes"}`},
		{"a logical type beside a fixed", record(`{"name":"p","type":{"type":"fixed","name":"f","size":8},"logicalType":"decimal","precision":9}`), `"logicalType":"decimal"`},
		{"a logical type beside another", record(`{"name":"ts","type":{"type":"long","logicalType":"timestamp-micros"},"logicalType":"timestamp-millis"}`), `field "ts"`},
		{"a logical type beside a type below", record(`{"name":"a","type":{"type":"record","name":"b","fields":[{"name":"ts","type":"int","logicalType":"time-millis"}]}}`), `field "ts"`},
		{"a default out of range", record(`{"name":"ts","type":{"type":"long","logicalType":"timestamp-millis"},"default":1772690828000000}`), "default"},
		{"nested beyond sense", record(`{"name":"a","type":` + strings.Repeat(`{"type":"array","items":`, 3000) + `"long"` + strings.Repeat("}", 3000) + `}`), "deep"},
		{"nested too deep", record(`{"name":"a","type":` + strings.Repeat(`{"type":"array","items":`, 70) + `"long"` + strings.Repeat("}", 70) + `}`), "deep"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := parse(row.text)
			if !errors.Is(err, schema.ErrSchema) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(err.Error(), row.says) {
				t.Errorf("%q doesn't say %q", err, row.says)
			}
		})
	}
}

// TestGoavroIsTooStrict: what Avro has and Java's parser takes is taken, although
// goavro refuses it or fails. A row that goavro takes by itself isn't needed here.
func TestGoavroIsTooStrict(t *testing.T) {
	rows := []struct{ name, text string }{
		{"a decimal's default", record(`{"name":"a","type":{"type":"fixed","name":"f","size":2,"logicalType":"decimal","precision":4},"default":"\u0000\u0001"}`)},
		{"a default of a nullable type's second branch", record(`{"name":"a","type":["null","long"],"default":5}`)},
		{"a default of a union's first branch, below", record(`{"name":"a","type":{"type":"array","items":["long","string"]},"default":[1]}`)},
		{"a fixed's default above 0x7f", record(`{"name":"a","type":{"type":"fixed","name":"f","size":1},"default":"\u00ff"}`)},
		{"two decimals without a scale", record(`{"name":"a","type":{"type":"bytes","logicalType":"decimal","precision":4}},{"name":"b","type":{"type":"bytes","logicalType":"decimal","precision":4}}`)},
		{"a logical type of goavro's own", record(`{"name":"a","type":{"type":"string","logicalType":"validated-string"}}`)},
		{"an error", `{"type":"error","name":"r","fields":[{"name":"a","type":"long"}]}`},
		{"a type without a namespace in one", `{"type":"record","name":"p.r","fields":[
			{"name":"a","type":{"type":"record","name":"q.r","fields":[{"name":"a","type":{"type":"fixed","name":"f","namespace":"","size":1}}]}},
			{"name":"b","type":"f"}]}`},
		{"a type that is called like a kind", record(`{"name":"a","type":{"type":"fixed","name":"array","size":1}},{"name":"b","type":{"type":"array","items":"array"},"default":[]},{"name":"c","type":["array",{"type":"array","items":"long"}]}`)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if goavroTakes(row.text) {
				t.Error("goavro takes it")
			}
			if _, err := parse(row.text); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWarnings: what a schema says without effect is told, with the field, and
// stays in the schema's text; what has an effect isn't.
func TestWarnings(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"nothing", record(`{"name":"a","type":{"type":"long","logicalType":"timestamp-millis"},"doc":"x","order":"ignore","aliases":["b"]}`), ""},
		{"a logical type twice", record(`{"name":"a","type":["null",{"type":"long","logicalType":"timestamp-millis"}],"logicalType":"timestamp-millis"}`), ""},
		{"sources", record(`{"name":"a","type":"string","source":"tag","key":null},{"name":"_extra","type":["null","string"],"key":null,"source":"rest"}`), ""},
		{"an unknown logical type", record(`{"name":"a","type":{"type":"long","logicalType":"timestamp-nanos"}}`), `field "a": the logical type timestamp-nanos isn't known: the column is of the plain type long`},
		{"a misspelt one", record(`{"name":"a","type":["null",{"type":"int","logicalType":"Date"}]}`), `field "a": the logical type Date isn't known: the column is of the plain type int`},
		{"an unknown one beside the type", record(`{"name":"a","type":"string","logicalType":"email"}`), `field "a": the logical type email isn't known, and stands beside the type: it has no effect`},
		{"of an array", record(`{"name":"a","type":{"type":"array","items":"long","logicalType":"timestamp-millis"}}`), `field "a": the logical type timestamp-millis has no effect on the type array`},
		{"of a fixed", record(`{"name":"a","type":{"type":"fixed","name":"f","size":12,"logicalType":"duration"}}`), `field "a": the logical type duration has no effect on the type fixed`},
		{"below", record(`{"name":"a","type":{"type":"record","name":"b","fields":[{"name":"c","type":{"type":"string","logicalType":"json"}}]}}`), `field "a.c": the logical type json isn't known: the column is of the plain type string`},
		{"no key", record(`{"name":"a","type":["null","long"],"key":null}`), `field "a": no record has a value for it, since its key is null and it has no source`},
		{"a source below", record(`{"name":"a","type":{"type":"record","name":"b","fields":[{"name":"c","type":["null","string"],"source":"tag"}]}}`), `field "a.c": source "tag" has no effect below the top; give it to a field of the outermost record`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := parse(row.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.Warnings, "\n"); got != row.want {
				t.Errorf("got %s\nwant %s", got, row.want)
			}
			var compact bytes.Buffer
			if err := json.Compact(&compact, []byte(row.text)); err != nil || compact.String() != string(s.Text) {
				t.Errorf("the text became %s, %v", s.Text, err)
			}
		})
	}
}

func goavroTakes(text string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := goavro.NewCodec(text)
	return err == nil
}

// TestNamedTypes: namespaces, references and recursion as Avro has them.
func TestNamedTypes(t *testing.T) {
	s, err := parse(`{"type":"record","name":"tree","namespace":"a.b","fields":[
		{"name":"left","type":["null","tree"]},
		{"name":"right","type":["a.b.tree","null"]},
		{"name":"f","type":{"type":"fixed","name":"c.four","size":4}},
		{"name":"g","type":"c.four"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Root.Fields
	if f[0].Type.Record != s.Root || f[1].Type.Record != s.Root || !f[1].Type.NullSecond || f[0].Type.NullSecond {
		t.Error("the record's fields aren't of its own type")
	}
	if f[3].Type.Size != 4 || s.Root.Name != "a.b.tree" {
		t.Errorf("%+v, %s", f[3].Type, s.Root.Name)
	}
}

// TestSources: fields that are called like the date, the tag and the rest take
// them, if they can.
func TestSources(t *testing.T) {
	s, err := parse(record(`{"name":"date","type":"string"},{"name":"tag","type":"long"},{"name":"_extra","type":["null","string"]},{"name":"m","type":"string","source":"metadata"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []schema.From{schema.FromTime, schema.FromRecord, schema.FromRest, schema.FromMetadata}
	for i, f := range s.Root.Fields {
		if f.From != want[i] {
			t.Errorf("%s is from the %s, want the %s", f.Name, f.From, want[i])
		}
	}
	if s.Rest != 2 {
		t.Errorf("the rest is field %d", s.Rest)
	}
}

func batch(records ...any) *event.Batch {
	var b []byte
	for _, r := range records {
		b = Append(b, Event(At(1767225600, 0), Map{}, r))
	}
	events, _ := Read(b)
	return &event.Batch{Events: events}
}

func learning(t *testing.T, dir string) *schema.Schemas {
	t.Helper()
	s, err := schema.Open(schema.Options{Dir: dir, DateKey: "date"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// columns are the learned columns and their types, without those outside the
// record.
func columns(s *schema.Schema) string { return strings.Join(columnsOf(s.Root), " ") }

func columnsOf(r *schema.Record) (all []string) {
	for _, f := range r.Fields {
		if f.From == schema.FromRecord {
			all = append(all, f.Name+":"+typeText(f.Type))
		}
	}
	return all
}

func typeText(t *schema.Type) string {
	switch t.Kind {
	case schema.Array:
		return "[" + typeText(t.Items) + "]"
	case schema.RecordKind:
		return "{" + strings.Join(columnsOf(t.Record), " ") + "}"
	}
	return t.String()
}

// TestLearning is the table of what records make of a schema, one after the
// other.
func TestLearning(t *testing.T) {
	many := Map{}
	for i := range 200 {
		many = append(many, i, 1)
	}
	var deep any = 1
	for range 10 {
		deep = Map{"d", deep}
	}
	rows := []struct {
		name    string
		records []any
		want    string
	}{
		{"kinds", []any{Map{"a", true, "b", 1, "c", 1.5, "d", "x", "e", []byte("\xff"), "f", Ext{Type: 5}}}, "a:boolean b:long c:double d:string e:bytes f:string"},
		{"bin that is text", []any{Map{"a", []byte("x")}, Map{"a", "y"}}, "a:string"},
		{"bin that is text by chance", []any{Map{"a", []byte("\xff")}, Map{"a", []byte("x")}}, "a:bytes"},
		{"bytes behind texts", []any{Map{"a", []byte("x")}, Map{"a", []byte("\xff")}}, "a:string"},
		{"text behind bytes", []any{Map{"a", []byte("\xff")}, Map{"a", "x"}}, "a:string"},
		{"only nulls and empty ones", []any{Map{"a", nil, "b", Map{}, "c", []any{}, "d", []any{nil, []any{}}}}, ""},
		{"a null, then a value", []any{Map{"a", nil}, Map{"a", 1}}, "a:long"},
		{"long becomes double", []any{Map{"a", 1}, Map{"a", 1.5}, Map{"a", 2}}, "a:double"},
		{"double stays", []any{Map{"a", 1.5}, Map{"a", 2}}, "a:double"},
		{"double becomes string", []any{Map{"a", 1.5}, Map{"a", "x"}, Map{"a", 1}}, "a:string"},
		{"above int64", []any{Map{"a", uint64(1 << 63)}}, "a:string"},
		{"boolean and long", []any{Map{"a", true}, Map{"a", 1}}, "a:string"},
		{"nested", []any{Map{"a", Map{"b", 1}}, Map{"a", Map{"c", Map{"d", "x"}}}}, "a:{b:long c:{d:string}}"},
		{"a map and text", []any{Map{"a", Map{"b", 1}}, Map{"a", "x"}}, "a:string"},
		{"lists", []any{Map{"a", []any{1, nil, 2}, "b", []any{[]any{"x"}}, "c", []any{Map{"x", 1}, Map{"y", 2}}}}, "a:[long] b:[[string]] c:[{x:long y:long}]"},
		{"a list of a mix", []any{Map{"a", []any{1, "x"}}}, "a:[string]"},
		{"an empty list, then items", []any{Map{"a", []any{}}, Map{"a", []any{1.5}}}, "a:[double]"},
		{"names", []any{Map{"x-y", 1, "x_y", 2, "X.Y", 3, "日志", 4, "", 5, "1st", 6, "date", 7, "_extra", 8}}, "x_y:long x_y_1:long X_Y_2:long __:long _:long _1st:long date_1:long _extra_1:long"},
		{"too many keys", []any{Map{"labels", many}}, "labels:free-form"},
		{"too deep", []any{Map{"a", deep}}, "a:{d:{d:{d:{d:{d:{d:{d:free-form}}}}}}}"},
		{"a long key", []any{Map{strings.Repeat("k", 256), 1, "a", 1}}, "a:long"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := learning(t, "")
			var last *schema.Schema
			for _, r := range row.records {
				last = s.Begin(batch(r))
			}
			if got := columns(last); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if _, err := goavro.NewCodec(string(last.Text)); err != nil {
				t.Errorf("goavro refuses the schema: %v", err)
			}
			again, err := schema.Parse(last.Text, schema.Lenient, "", "")
			if err != nil || columns(again) != row.want || again.ID != last.ID {
				t.Errorf("the schema doesn't come back: %v", err)
			}
		})
	}
}

// TestMostColumns: what is beyond isn't learned, and costs no more.
func TestMostColumns(t *testing.T) {
	s := learning(t, "")
	wide := Map{}
	for i := range 3000 {
		wide = append(wide, i, i)
	}
	if n := len(columnsOf(s.Begin(batch(wide)).Root)); n != 2048 {
		t.Errorf("%d columns", n)
	}
}

// TestSchemasChangeOnlyWhenAPartBegins, and not when nothing is new.
func TestSchemasChangeOnlyWhenAPartBegins(t *testing.T) {
	s := learning(t, "")
	first := s.Begin(batch(Map{"a", 1}))
	s.Learn(Pack(Map{"b", 1}, Map{"a", "x"}))
	if s.Current() != first {
		t.Error("the schema changed while a part was open")
	}
	second := s.Begin(nil)
	if columns(second) != "a:string b:long" {
		t.Errorf("then it has %s", columns(second))
	}
	if third := s.Begin(batch(Map{"a", 2}, Map{"b", 2}, Map{})); third != second {
		t.Error("the schema changed though nothing was new")
	}
}

// TestRestart: what was learned is known after a restart, under the same names;
// whatever happened to the file, learning begins anew at worst.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	before := learning(t, dir).Begin(batch(Map{"x-y", 1, "X_y", "s", "n", Map{"l", []any{1.5}}}))
	if after := learning(t, dir).Current(); after.ID != before.ID {
		t.Errorf("before: %s\nafter:  %s", before.Text, after.Text)
	}
	name := filepath.Join(dir, "schema.avsc")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"empty": "", "cut": string(whole[:len(whole)/2]), "text": "hello", "another schema": `"long"`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := columns(learning(t, dir).Begin(batch(Map{"a", 1}))); got != "a:long" {
			t.Errorf("%s: %s", what, got)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := columns(learning(t, dir).Begin(batch(Map{"a", 1}))); got != "a:long" {
		t.Errorf("without its directory: %s", got)
	}
}

// TestAnotherDateKey after a restart: the column of that name makes room.
func TestAnotherDateKey(t *testing.T) {
	dir := t.TempDir()
	learning(t, dir).Begin(batch(Map{"ts", 1}))
	s, err := schema.Open(schema.Options{Dir: dir, DateKey: "ts"})
	if err != nil {
		t.Fatal(err)
	}
	if got := columns(s.Current()); got != "ts_1:long" {
		t.Errorf("got %s", got)
	}
}

// FuzzParse: any text is a schema or an error, and a schema is its own text.
func FuzzParse(f *testing.F) {
	f.Add(record(`{"name":"a","type":["null","long"],"default":null,"key":"x-y"}`))
	f.Add(record(`{"name":"a","type":{"type":"array","items":{"type":"record","name":"n","fields":[{"name":"m","type":{"type":"map","values":"bytes"}}]}}}`))
	f.Add(record(`{"name":"a","type":{"type":"fixed","name":"x.y","size":16,"logicalType":"decimal","precision":20,"scale":2},"default":""}`))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil {
			if !errors.Is(err, schema.ErrSchema) {
				t.Fatal(err)
			}
			return
		}
		again, err := parse(string(s.Text))
		if err != nil || again.ID != s.ID {
			t.Fatalf("%q doesn't come back: %v", s.Text, err)
		}
	})
}
