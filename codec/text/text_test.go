package text_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/text"
)

func TestLines(t *testing.T) {
	rows := []struct {
		name string
		key  string // "" is the default
		body Map
		want string
	}{
		{"the log field", "", Map{"stream", "stdout", "log", "hello"}, "hello\n"},
		{"another field", "message", Map{"log", "a", "message", "b"}, "b\n"},
		{"a nested field", "$k['a'][1]", Map{"k", Map{"a", []any{"x", "y"}}}, "y\n"},
		{"the tag", "$TAG[1]", Map{"log", "a"}, "var\n"},
		{"a part that the tag doesn't have", "$TAG[7]", Map{"log", "a"}, `{"date":7,"log":"a"}` + "\n"},
		{"its newline isn't doubled", "", Map{"log", "hello\n"}, "hello\n"},
		{"only one newline is dropped", "", Map{"log", "hello\n\n"}, "hello\n\n"},
		{"a carriage return stays", "", Map{"log", "hello\r\n"}, "hello\r\n"},
		{"newlines within stay", "", Map{"log", "panic\n\tat main\n"}, "panic\n\tat main\n"},
		{"empty", "", Map{"log", ""}, "\n"},
		{"only a newline", "", Map{"log", "\n"}, "\n"},
		{"nothing is escaped", "", Map{"log", "a\t\"中\\\x00"}, "a\t\"中\\\x00\n"},
		{"another encoding stays", "", Map{"log", "\xd6\xd0\xce\xc4"}, "\xd6\xd0\xce\xc4\n"},
		{"bin is bytes too", "", Map{"log", []byte("\xff\n")}, "\xff\n"},
		{"the last of two", "", Map{"log", "a", "log", "b"}, "b\n"},
		{"integer", "", Map{"log", 42}, "42\n"},
		{"float", "", Map{"log", 1.5}, "1.5\n"},
		{"boolean", "", Map{"log", true}, "true\n"},
		{"ext", "", Map{"log", Ext{Type: 1, Data: []byte("ab")}}, "data:;base64,YWI=\n"},
		{"map", "", Map{"log", Map{"a", 1, "a", "x\n"}}, `{"a":"x\n"}` + "\n"},
		{"array", "", Map{"log", []any{1, "x"}}, `[1,"x"]` + "\n"},
		{"missing", "", Map{"msg", "a"}, `{"date":7,"msg":"a"}` + "\n"},
		{"nil", "", Map{"log", nil}, `{"date":7,"log":null}` + "\n"},
		{"empty record", "", Map{}, `{"date":7}` + "\n"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o := text.Options{JSON: json.Options{DateKey: "date", DateFormat: json.Epoch}}
			if row.key != "" {
				var err error
				if o.Key, err = event.ParseKey(row.key); err != nil {
					t.Fatal(err)
				}
			}
			events, _ := Read(Pack(Event(At(7, 0), Map{}, row.body)))
			batch := &event.Batch{Tag: "kube.var.log", Events: events}
			out, rejects := text.New(o).(codec.BlockFormat).NewBlockEncoder().Encode([]byte("x"), batch)
			if string(out) != "x"+row.want || len(rejects) != 0 {
				t.Errorf("got %q, rejects %v; want %q", out, rejects, row.want)
			}
		})
	}
}

func TestRejectsLeaveNoTrace(t *testing.T) {
	rows := []struct {
		name string
		bad  *event.Event
	}{
		{"malformed", &event.Event{Malformed: "no map"}},
		{"no record", &event.Event{}},
		{"cut record without the field", &event.Event{Body: []byte{0x82, 1, 1}}},
		{"field nested too deep", &event.Event{Body: append([]byte("\x81\xa3log"), append(bytes.Repeat([]byte{0x91}, 200), 1)...)}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			sound := &event.Event{Body: Pack(Map{"log", "a"})}
			batch := &event.Batch{Events: []*event.Event{sound, row.bad, sound}}
			out, rejects := text.New(text.Options{}).(codec.BlockFormat).NewBlockEncoder().Encode(nil, batch)
			if string(out) != "a\na\n" || len(rejects) != 1 || rejects[0].Event != row.bad || rejects[0].Reason == "" {
				t.Errorf("wrote %q, rejects %+v", out, rejects)
			}
		})
	}
}

// A text file that was tailed comes out as it was.
func TestTailedLinesComeOutAsTheyWere(t *testing.T) {
	want := "first\n\n  indented 中文\n\xff\xfe\nlast\n"
	var chunk []byte
	for _, line := range bytes.SplitAfter([]byte(want), []byte("\n")) {
		if len(line) > 0 {
			chunk = Append(chunk, Event(At(1, 0), Map{}, Map{"log", string(bytes.TrimSuffix(line, []byte("\n")))}))
		}
	}
	events, _ := Read(chunk)
	out, _ := text.New(text.Options{}).(codec.BlockFormat).NewBlockEncoder().Encode(nil, &event.Batch{Events: events})
	if string(out) != want {
		t.Errorf("got %q", out)
	}
}

func FuzzText(f *testing.F) {
	for _, h := range HostileChunks() {
		if len(h.Chunk) < 5000 {
			f.Add(h.Chunk)
		}
	}
	f.Add(Plain(2))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		events, _ := Read(chunk)
		var out []byte
		var rejects []codec.Reject
		Bounded(t, len(chunk), func() {
			out, rejects = text.New(text.Options{}).(codec.BlockFormat).NewBlockEncoder().Encode(nil, &event.Batch{Events: events})
		})
		for _, r := range rejects {
			if r.Event.Malformed == "" {
				t.Errorf("event %d rejected: %s", r.Event.Ordinal, r.Reason)
			}
		}
		for _, e := range events {
			if e.Malformed != "" {
				continue
			}
			line, ok := logOf(t, e.Body)
			if !ok {
				next, _, _ := bytes.Cut(out, []byte("\n"))
				line = string(next)
			}
			rest, ok := bytes.CutPrefix(out, []byte(line+"\n"))
			if !ok {
				t.Fatalf("event %d isn't written as %q: %q", e.Ordinal, line, out)
			}
			out = rest
		}
		if len(out) > 0 {
			t.Errorf("nobody wrote %q", out)
		}
	})
}

// logOf is the text of a record's field "log" by a plain decoder. ok is false if
// it is none.
func logOf(t *testing.T, body []byte) (line string, ok bool) {
	t.Helper()
	v, _, _, err := Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	for record := v.(Map); len(record) > 0; record = record[2:] {
		switch key := record[0].(type) {
		case string:
			if key != "log" {
				continue
			}
		case []byte:
			if string(key) != "log" {
				continue
			}
		default:
			continue
		}
		switch v := record[1].(type) {
		case string:
			line, ok = v, true
		case []byte:
			line, ok = string(v), true
		default:
			ok = false
		}
	}
	return strings.TrimSuffix(line, "\n"), ok
}

func TestEncodingAllocatesNothing(t *testing.T) {
	events, _ := Read(Kubernetes(50))
	batch := &event.Batch{Events: events}
	for _, key := range []string{"log", "kubernetes", "missing", "$kubernetes['labels']['app']"} {
		t.Run(key, func(t *testing.T) {
			a, err := event.ParseKey(key)
			if err != nil {
				t.Fatal(err)
			}
			enc := text.New(text.Options{Key: a}).(codec.BlockFormat).NewBlockEncoder()
			dst := make([]byte, 0, 1<<20)
			if n := testing.AllocsPerRun(10, func() { dst, _ = enc.Encode(dst[:0], batch) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	for name, chunk := range map[string][]byte{"kubernetes": Kubernetes(1000), "plain": Plain(1000)} {
		b.Run(name, func(b *testing.B) {
			events, _ := Read(chunk)
			batch := &event.Batch{Events: events}
			enc := text.New(text.Options{}).(codec.BlockFormat).NewBlockEncoder()
			var dst []byte
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = enc.Encode(dst[:0], batch)
			}
		})
	}
}
