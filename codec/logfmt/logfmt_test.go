package logfmt_test

import (
	"bytes"
	"math"
	"testing"
	"unicode/utf8"

	reader "github.com/go-logfmt/logfmt"
	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/labeled"
	"github.com/out-hdfs/out_hdfs/codec/logfmt"
)

func options(list string) labeled.Options {
	all, err := columns.Parse(list)
	if err != nil {
		panic(err)
	}
	return labeled.Options{Columns: all, Values: columns.Options{DateKey: "date", DateFormat: json.Epoch, TagKey: "tag"}}
}

func encode(o labeled.Options, events ...*event.Event) (string, []codec.Reject) {
	out, rejects := logfmt.New(o).NewBlockEncoder().Encode(nil, &event.Batch{Tag: "t", Events: events})
	return string(out), rejects
}

func TestLines(t *testing.T) {
	for _, tc := range []struct {
		name string
		list string // "" is all fields
		body Map
		want string
	}{
		{"all fields in order", "", Map{"b", 1, "a", "x"}, "date=7 tag=t b=1 a=x\n"},
		{"an empty record", "", Map{}, "date=7 tag=t\n"},
		{"null is no field, empty text is", "", Map{"a", nil, "b", ""}, "date=7 tag=t b=\"\"\n"},
		{"blanks", "", Map{"msg", "user logged in"}, "date=7 tag=t msg=\"user logged in\"\n"},
		{"quotes and equals signs", "", Map{"a", `say "x"`, "b", "k=v"}, "date=7 tag=t a=\"say \\\"x\\\"\" b=\"k=v\"\n"},
		{"a backslash alone", "", Map{"a", `C:\temp`, "b", `C:\a b`}, "date=7 tag=t a=C:\\temp b=\"C:\\\\a b\"\n"},
		{"control characters", "", Map{"a", "1\n2\r3\t4\x01\b\f"}, "date=7 tag=t a=\"1\\n2\\r3\\t4\\u0001\\b\\f\"\n"},
		{"other alphabets", "", Map{"日志", "你好", "a", "\u2028"}, "date=7 tag=t 日志=你好 a=\u2028\n"},
		{"an invalid byte", "", Map{"a", "x\xff", "b\xff", 1}, "date=7 tag=t a=\"x\ufffd\" b_=1\n"},
		{"odd keys", "", Map{"a b", 1, "", 2, "x=y", 3, `q"`, 4, "\n", 5}, "date=7 tag=t a_b=1 _=2 x_y=3 q_=4 _=5\n"},
		{"keys that are no text", "", Map{1, "a", nil, "b"}, "date=7 tag=t 1=a null=b\n"},
		{"the last of two", "", Map{"a", 1, "b", 2, "a", 3}, "date=7 tag=t b=2 a=3\n"},
		{"fields named like the date and the tag", "", Map{"date", "d", "tag", "g"}, "date=d tag=g\n"},
		{"values", "", Map{"i", int64(math.MaxInt64), "f", math.NaN(), "b", true, "z", []byte{255}, "bt", []byte("a b"), "m", Map{"k", "v"}},
			"date=7 tag=t i=9223372036854775807 f=NaN b=true z=\"data:;base64,/w==\" bt=\"a b\" m=\"{\\\"k\\\":\\\"v\\\"}\"\n"},
		{"columns", "b,x=$a['c'],date,$TAG,n", Map{"a", Map{"c", "y z"}, "b", 1, "n", nil}, "b=1 x=\"y z\" date=7 tag=t\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, rejects := encode(options(tc.list), &event.Event{Time: At(7, 0), Body: Pack(tc.body)})
			if got != tc.want || len(rejects) > 0 {
				t.Errorf("got %q, rejects %v; want %q", got, rejects, tc.want)
			}
		})
	}
}

// TestRejectsLeaveNoTrace of themselves between two lines.
func TestRejectsLeaveNoTrace(t *testing.T) {
	good := &event.Event{Body: Pack(Map{"b", 1})}
	for name, bad := range map[string]*event.Event{
		"malformed":        {Malformed: "no map"},
		"nothing to write": {Body: Pack(Map{"a", nil})},
		"cut short":        {Body: []byte{0x82, 1, 1}},
	} {
		out, rejects := encode(labeled.Options{}, good, bad, good)
		if out != "b=1\nb=1\n" || len(rejects) != 1 || rejects[0].Event != bad || rejects[0].Reason == "" {
			t.Errorf("%s: wrote %q, rejects %+v", name, out, rejects)
		}
	}
}

// readBack reads lines as Loki does.
func readBack(t interface{ Fatal(...any) }, lines string) (records [][2][]string) {
	d := reader.NewDecoder(bytes.NewReader([]byte(lines)))
	for d.ScanRecord() {
		var r [2][]string
		for d.ScanKeyval() {
			r[0], r[1] = append(r[0], string(d.Key())), append(r[1], string(d.Value()))
		}
		records = append(records, r)
	}
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}

// TestAnyTextIsReadBack by a reader that isn't ours, whatever stands in it.
func TestAnyTextIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a \"\\=\n\r\t\x00\x1f\x7f\ufffd日"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		key := rapid.String().Draw(t, "key")
		out, rejects := encode(labeled.Options{}, &event.Event{Body: Pack(Map{key, text, "end", "e"})}, &event.Event{Body: Pack(Map{"next", 1})})
		if len(rejects) > 0 {
			t.Fatal(rejects)
		}
		records := readBack(t, out)
		if len(records) != 2 || records[1][0][0] != "next" {
			t.Fatalf("%d lines of %q", len(records), out)
		}
		want := string(event.AppendValidUTF8(nil, []byte(text)))
		keys, values := records[0][0], records[0][1]
		if key == "end" { // the last of two counts
			return
		}
		if len(values) != 2 || values[0] != want || values[1] != "e" || keys[1] != "end" || !utf8.ValidString(keys[0]) || keys[0] == "" {
			t.Fatalf("%q is read back as %q %q, want %q", out, keys, values, want)
		}
	})
}

// FuzzLogfmt: whatever comes, each event is one line that can be read, or one
// reject.
func FuzzLogfmt(f *testing.F) {
	f.Add(Pack(Map{"a", "x y", "b", Map{"c", []byte{0, 255}}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, rejects := encode(labeled.Options{}, &event.Event{Body: body})
		if lines := bytes.Count([]byte(out), []byte("\n")); lines+len(rejects) != 1 {
			t.Fatalf("%d lines and %d rejects", lines, len(rejects))
		}
		if len(rejects) == 0 && len(readBack(t, out)) != 1 {
			t.Fatalf("%q is no line", out)
		}
	})
}

// TestEncodingAllocatesNothing once its buffers have grown.
func TestEncodingAllocatesNothing(t *testing.T) {
	e := logfmt.New(options("")).NewBlockEncoder()
	b := &event.Batch{Tag: "t", Events: []*event.Event{{Time: At(7, 0), Body: Pack(Map{"a", `x "y"`, "n", 1, "m", "plain"})}}}
	dst := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { dst, _ = e.Encode(dst[:0], b) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
