package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

func ext(typ int8, data string) Ext { return Ext{Type: typ, Data: []byte(data)} }

// TestValues is the table of how each msgpack value looks in JSON.
func TestValues(t *testing.T) {
	rows := []struct {
		name  string
		value any
		want  string
	}{
		{"nil", nil, `null`},
		{"true", true, `true`},
		{"false", false, `false`},
		{"zero", 0, `0`},
		{"one digit", 9, `9`},
		{"two digits", 42, `42`},
		{"three digits", 127, `127`},
		{"uint8", 200, `200`},
		{"uint16", 40000, `40000`},
		{"uint32", 3000000000, `3000000000`},
		{"above 2^53", int64(9007199254740993), `9007199254740993`},
		{"largest", uint64(math.MaxUint64), `18446744073709551615`},
		{"negative fixint", -1, `-1`},
		{"int8", -100, `-100`},
		{"int16", -30000, `-30000`},
		{"int32", -2000000000, `-2000000000`},
		{"smallest", int64(math.MinInt64), `-9223372036854775808`},
		{"positive in a signed form", Wide{Value: int64(5)}, `5`},
		{"float", 0.1, `0.1`},
		{"float with all digits", 1.0 / 3, `0.3333333333333333`},
		{"float32", float32(0.1), `0.1`},
		{"whole float", 2.0, `2.0`},
		{"large float", 1e300, `1e+300`},
		{"minus zero", math.Copysign(0, -1), `-0.0`},
		{"NaN", math.NaN(), `null`},
		{"infinity", math.Inf(1), `null`},
		{"float32 minus infinity", float32(math.Inf(-1)), `null`},
		{"empty string", "", `""`},
		{"string of every short length", []any{"1", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "123456789"},
			`["1","12","123","1234","12345","123456","1234567","12345678","123456789"]`},
		{"Chinese", "中文日志", `"中文日志"`},
		{"emoji", "🙂👩‍💻", `"🙂👩‍💻"`},
		{"no HTML escaping", "<a href='x'>&</a>", `"<a href='x'>&</a>"`},
		{"slash", "a/b", `"a/b"`},
		{"quote and backslash", `"\`, `"\"\\"`},
		{"named control characters", "\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"other control characters", "\x00\x01\x0b\x1f", `"\u0000\u0001\u000b\u001f"`},
		{"delete", "\x7f", "\"\x7f\""},
		{"line separators", "\u2028\u2029", "\"\u2028\u2029\""},
		{"an escape at each place of a word", "\n2345678\n1\n345678", `"\n2345678\n1\n345678"`},
		{"an escape at the very end", "12345678\n", `"12345678\n"`},
		{"JSON in a string", `{"a":"b\n"}`, `"{\"a\":\"b\\n\"}"`},
		{"invalid byte", "a\xffb", `"a` + "\uFFFD" + `b"`},
		{"cut sequence", "中\xe4\xb8", `"中` + "\uFFFD\uFFFD" + `"`},
		{"surrogate", "\xed\xa0\x80abcd", `"` + "\uFFFD\uFFFD\uFFFD" + `abcd"`},
		{"overlong", "\xe0\x80\x80abcd\xc0\x80", `"` + "\uFFFD\uFFFD\uFFFD" + `abcd` + "\uFFFD\uFFFD" + `"`},
		{"lowest and highest of three bytes", "\u0800\ud7ff\ue000\uffff1234", "\"\u0800\ud7ff\ue000\uffff1234\""},
		{"beyond Unicode", "\xf4\x90\x80\x80", `"` + strings.Repeat("\uFFFD", 4) + `"`},
		{"invalid next to an escape", "\xe4\"\xb8", `"` + "\uFFFD" + `\"` + "\uFFFD" + `"`},
		{"U+FFFD itself", "\uFFFD1234", `"` + "\uFFFD" + `1234"`},
		{"bin", []byte{0, 0xff}, `"data:;base64,AP8="`},
		{"bin that is text", []byte("GET /checkout 200\n中"), `"GET /checkout 200\n中"`},
		{"bin that begins like the mark", []byte("data:;base64,x"), `"data:;base64,ZGF0YTo7YmFzZTY0LHg="`},
		{"string that begins like the mark", "data:;base64,AP8=", `"data:;base64,ZGF0YTo7YmFzZTY0LEFQOD0="`},
		{"long string that begins like the mark", "data:;base64,AP8=" + strings.Repeat("a", 40), `"data:;base64,ZGF0YTo7YmFzZTY0LEFQOD1hYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"`},
		{"string that is shorter than the mark", "data:;base64", `"data:;base64"`},
		{"string like a mark of another kind", "data:text/plain;base64,AP8=", `"data:text/plain;base64,AP8="`},
		{"empty bin", []byte{}, `""`},
		{"ext", ext(5, "ab"), `{"type":5,"data":"YWI="}`},
		{"negative ext", ext(-1, "abcd"), `{"type":-1,"data":"YWJjZA=="}`},
		{"EventTime in a record", EventTime(1, 2), `{"type":0,"data":"AAAAAQAAAAI="}`},
		{"array", []any{1, "a", nil, []any{}, Map{}}, `[1,"a",null,[],{}]`},
		{"map keeps its order", Map{"z", 1, "a", 2}, `{"z":1,"a":2}`},
		{"long headers", Wide{Value: Map{"a", Wide{Value: []any{Wide{Value: "s"}}}}}, `{"a":["s"]}`},
		{"empty key", Map{"", 1}, `{"":1}`},
		{"key to escape", Map{"a\"b\n", 1}, `{"a\"b\n":1}`},
		{"long key", Map{strings.Repeat("k", 40), 1}, `{"` + strings.Repeat("k", 40) + `":1}`},
		{"integer key", Map{1, 2, -1, 3}, `{"1":2,"-1":3}`},
		{"other keys", Map{nil, 1, true, 2, 1.5, 3, math.NaN(), 4}, `{"true":2,"1.5":3,"null":4}`},
		{"bin key is text", Map{[]byte("level"), 1}, `{"level":1}`},
		{"ext key", Map{ext(5, "a"), 1}, `{"{\"type\":5,\"data\":\"YQ==\"}":1}`},
		{"map and array as key", Map{Map{"a", 1, "a", 2}, 1, []any{1}, 2}, `{"{\"a\":2}":1,"[1]":2}`},
		{"keys in keys", Map{Map{1, "abc"}, 1, Map{2, Map{3, 4}}, 2}, `{"{\"1\":\"abc\"}":1,"{\"2\":{\"3\":4}}":2}`},
		{"a key twice", Map{"a", 1, "b", 2, "a", 3}, `{"b":2,"a":3}`},
		{"a key three times", Map{"a", 1, "a", Map{"x", 1}, "a", []any{3}}, `{"a":[3]}`},
		{"only the last stays", Map{"a", 1, "a", 2}, `{"a":2}`},
		{"the first of the last", Map{"a", 1, "b", 2, "b", 3}, `{"a":1,"b":3}`},
		{"a key twice within", Map{"m", Map{"a", 1, "b", 2, "a", 3}, "n", 1, "m", Map{"a", 5}}, `{"n":1,"m":{"a":5}}`},
		{"equal as JSON", Map{"1", "s", 1, "i", []byte("1"), "b"}, `{"1":"b"}`},
		{"equal after repair", Map{"\xff", 1, "\xfe", 2, "\uFFFD", 3}, `{"` + "\uFFFD" + `":3}`},
		{"a key in and out of a map", Map{"a", Map{"a", 1}, "b", Map{"a", 2}}, `{"a":{"a":1},"b":{"a":2}}`},
	}
	var a json.Appender
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := a.AppendValue([]byte("x"), Pack(row.value))
			if err != nil || string(got) != "x"+row.want {
				t.Errorf("got %s, %v\nwant x%s", got, err, row.want)
			}
			if !stdjson.Valid(got[1:]) || !utf8.Valid(got) {
				t.Errorf("%s isn't valid", got)
			}
		})
	}
}

func TestLinesOfJSONComeOutAsTheyWentIn(t *testing.T) {
	const want = `{"z":1,"a":"中 \"x\"","list":[1,-2,2.5,null,true,[],{}],"m":{"deep":{"id":9007199254740993}}}
{}
{"log":"second","price":1e+300}
`
	chunk, err := FromNDJSON(strings.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	events, _ := Read(chunk)
	out, _ := json.NewEncoder(json.Options{}).Encode(nil, &event.Batch{Events: events})
	if string(out) != want {
		t.Errorf("got %s", out)
	}
	if _, err := FromNDJSON(strings.NewReader(`{"a":1}{"b"`)); err == nil {
		t.Error("a cut object made a chunk")
	}
}

func TestValuesThatAreNone(t *testing.T) {
	deep := func(n int) []byte { return append(bytes.Repeat([]byte{0x91}, n), 0) }
	rows := []struct {
		name string
		raw  []byte
		ok   bool
	}{
		{"nothing", nil, false},
		{"0xc1", []byte{0xc1}, false},
		{"cut string", []byte{0xa5, 'a'}, false},
		{"cut map", []byte{0x82, 1, 1}, false},
		{"as deep as allowed", deep(event.MaxDepth), true},
		{"too deep", deep(event.MaxDepth + 1), false},
		{"far too deep", deep(1e6), false},
	}
	var a json.Appender
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := a.AppendValue([]byte("x"), row.raw)
			if (err == nil) != row.ok || !row.ok && (!errors.Is(err, json.ErrNoValue) || string(got) != "x") {
				t.Errorf("got %.20q, %v", got, err)
			}
		})
	}
}

// TestLines is the table of whole lines.
func TestLines(t *testing.T) {
	at := At(1527673192, 681999)
	meta := Map{"severity", 9}
	header := GroupHeader(Map{"schema", "otlp"}, Map{"resource", Map{"a", 1}})
	rows := []struct {
		name    string
		options json.Options
		chunk   []byte
		want    string
	}{
		{"only the record", json.Options{}, Pack(Event(at, meta, Map{"a", 1})), `{"a":1}`},
		{"empty record", json.Options{}, Pack(Event(at, meta, Map{})), `{}`},
		{"date first", json.Options{DateKey: "date"}, Pack(Event(at, meta, Map{"a", 1})), `{"date":"2018-05-30T09:39:52.000681Z","a":1}`},
		{"date of an empty record", json.Options{DateKey: "date"}, Pack(Event(at, meta, Map{})), `{"date":"2018-05-30T09:39:52.000681Z"}`},
		{"date key to escape", json.Options{DateKey: `@"t`}, Pack(Event(at, meta, Map{})), `{"@\"t":"2018-05-30T09:39:52.000681Z"}`},
		{"without a time", json.Options{DateKey: "date"}, Pack(Event(nil, meta, Map{"a", 1})), `{"date":null,"a":1}`},
		{"double", json.Options{DateKey: "d", DateFormat: json.Double}, Pack(Event(at, meta, Map{})), `{"d":1527673192.000682}`},
		{"double, whole", json.Options{DateKey: "d", DateFormat: json.Double}, Pack(Event(At(5, 0), meta, Map{})), `{"d":5.0}`},
		{"epoch", json.Options{DateKey: "d", DateFormat: json.Epoch}, Pack(Event(at, meta, Map{})), `{"d":1527673192}`},
		{"epoch_ms", json.Options{DateKey: "d", DateFormat: json.EpochMillis}, Pack(Event(At(1527673192, 9999999), meta, Map{})), `{"d":1527673192009}`},
		{"java_sql_timestamp", json.Options{DateKey: "d", DateFormat: json.JavaSQLTimestamp}, Pack(Event(at, meta, Map{})), `{"d":"2018-05-30 09:39:52.000681"}`},
		{"before 1970", json.Options{DateKey: "d"}, Pack(Event(-0.5, meta, Map{})), `{"d":"1969-12-31T23:59:59.500000Z"}`},
		{"before 1970, epoch", json.Options{DateKey: "d", DateFormat: json.Epoch}, Pack(Event(-5, meta, Map{})), `{"d":-5}`},
		{"before 1970, epoch_ms", json.Options{DateKey: "d", DateFormat: json.EpochMillis}, Pack(Event(-0.25, meta, Map{})), `{"d":-250}`},
		{"the first year", json.Options{DateKey: "d"}, Pack(Event(int64(-62135596800), meta, Map{})), `{"d":"0001-01-01T00:00:00.000000Z"}`},
		{"the last second", json.Options{DateKey: "d"}, Pack(Event(int64(99999999999), meta, Map{})), `{"d":"5138-11-16T09:46:39.000000Z"}`},
		{"milliseconds", json.Options{DateKey: "d"}, Pack(Event(int64(1527673192681), meta, Map{})), `{"d":"2018-05-30T09:39:52.681000Z"}`},
		{"iso8601_ns", json.Options{DateKey: "d", DateFormat: json.ISO8601Nanos}, Pack(Event(At(1527673192, 681999), meta, Map{}), Event(At(1527673192, 123456789), meta, Map{})),
			"{\"d\":\"2018-05-30T09:39:52.000681999Z\"}\n{\"d\":\"2018-05-30T09:39:52.123456789Z\"}"},
		{"ids of OpenTelemetry", json.Options{MetadataKey: "m"}, Pack(Event(at, Map{"otlp", Map{"trace_id", []byte("sixteen letters!"), "span_id", []byte{1, 2, 3, 4, 5, 6, 7, 255}}}, Map{}), Event(at, meta, Map{})),
			"{\"m\":{\"otlp\":{\"trace_id\":\"7369787465656e206c65747465727321\",\"span_id\":\"01020304050607ff\"}}}\n{\"m\":{\"severity\":9}}"},
		{"tag", json.Options{TagKey: "tag"}, Pack(Event(at, meta, Map{"a", 1})), `{"tag":"kube.\"x\"","a":1}`},
		{"date and tag", json.Options{DateKey: "d", DateFormat: json.Epoch, TagKey: "t"}, Pack(Event(At(1, 0), meta, Map{"a", 1})), `{"d":1,"t":"kube.\"x\"","a":1}`},
		{"the record's own date wins", json.Options{DateKey: "date", TagKey: "t"}, Pack(Event(at, meta, Map{"a", 1, "date", "own"})), `{"t":"kube.\"x\"","a":1,"date":"own"}`},
		{"the record's own tag wins", json.Options{DateKey: "d", DateFormat: json.Epoch, TagKey: "t"}, Pack(Event(At(1, 0), meta, Map{"t", nil})), `{"d":1,"t":null}`},
		{"the record's date as its only field", json.Options{DateKey: "date"}, Pack(Event(at, meta, Map{"date", 5})), `{"date":5}`},
		{"date and tag of one key", json.Options{DateKey: "x", TagKey: "x"}, Pack(Event(at, meta, Map{"a", 1})), `{"x":"kube.\"x\"","a":1}`},
		{"a date within stays", json.Options{DateKey: "d", DateFormat: json.Epoch}, Pack(Event(At(1, 0), meta, Map{"m", Map{"d", 2}})), `{"d":1,"m":{"d":2}}`},
		{"metadata", json.Options{MetadataKey: "meta"}, Pack(Event(at, meta, Map{"a", 1})), `{"meta":{"severity":9},"a":1}`},
		{"no metadata", json.Options{MetadataKey: "meta"}, Pack(Event(at, Map{}, Map{"a", 1}), Legacy(at, Map{"a", 2})), "{\"a\":1}\n{\"a\":2}"},
		{"group", json.Options{GroupKey: "group"}, Pack(header, Event(at, meta, Map{"a", 1}), GroupFooter(), Event(at, meta, Map{"a", 2})),
			"{\"group\":{\"resource\":{\"a\":1}},\"a\":1}\n{\"a\":2}"},
		{"all", json.Options{DateKey: "d", DateFormat: json.Epoch, TagKey: "t", MetadataKey: "m", GroupKey: "g"}, Pack(header, Event(At(1, 0), meta, Map{"a", 1})),
			`{"d":1,"t":"kube.\"x\"","m":{"severity":9},"g":{"resource":{"a":1}},"a":1}`},
		{"the record's own metadata key wins", json.Options{MetadataKey: "m"}, Pack(Event(at, meta, Map{"m", 1})), `{"m":1}`},
		{"long header", json.Options{}, Pack(Event(at, meta, Wide{Value: Map{"a", 1}})), `{"a":1}`},
		{"seconds that change", json.Options{DateKey: "d"}, Pack(Event(At(1, 0), meta, Map{}), Event(At(0, 1000), meta, Map{}), Event(At(1, 999999999), meta, Map{})),
			"{\"d\":\"1970-01-01T00:00:01.000000Z\"}\n{\"d\":\"1970-01-01T00:00:00.000001Z\"}\n{\"d\":\"1970-01-01T00:00:01.999999Z\"}"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			events, _ := Read(row.chunk)
			batch := &event.Batch{Tag: `kube."x"`, Events: events}
			out, rejects := json.New(row.options).(codec.BlockFormat).NewBlockEncoder().Encode([]byte("x"), batch)
			if string(out) != "x"+row.want+"\n" || len(rejects) != 0 {
				t.Errorf("got %s, rejects %v\nwant x%s", out, rejects, row.want)
			}
		})
	}
}

func TestEachBatchHasItsOwnTag(t *testing.T) {
	enc := json.NewEncoder(json.Options{TagKey: "tag"})
	events, _ := Read(Pack(Event(At(1, 0), Map{}, Map{})))
	for _, tag := range []string{"a", "b", "", "a"} {
		out, _ := enc.Encode(nil, &event.Batch{Tag: tag, Events: events})
		if want := `{"tag":"` + tag + "\"}\n"; string(out) != want {
			t.Errorf("got %s, want %s", out, want)
		}
	}
}

func TestRejectsLeaveNoTrace(t *testing.T) {
	sound := func(id int) *event.Event { return &event.Event{Ordinal: uint32(id), Body: Pack(Map{"id", id})} }
	rows := []struct {
		name string
		bad  *event.Event
	}{
		{"malformed", &event.Event{Malformed: "no map"}},
		{"no record", &event.Event{}},
		{"record that is no map", &event.Event{Body: Pack(5)}},
		{"cut record", &event.Event{Body: Pack(Map{"a", "text"})[:5]}},
		{"cut key", &event.Event{Body: []byte{0x81, 0xa5, 'a'}}},
		{"cut number", &event.Event{Body: []byte{0x81, 0xa1, 'a', 0xcd, 1}}},
		{"cut length", &event.Event{Body: []byte{0x81, 0xa1, 'a', 0xda, 1}}},
		{"cut bin", &event.Event{Body: []byte{0x81, 0xa1, 'a', 0xc4, 9, 1}}},
		{"no value", &event.Event{Body: []byte{0x81, 0xa1, 'a'}}},
		{"no pairs", &event.Event{Body: []byte{0xdf, 0xff, 0xff, 0xff, 0xff}}},
		{"illegal byte", &event.Event{Body: []byte{0x81, 0xa1, 'a', 0xc1}}},
		{"illegal key", &event.Event{Body: []byte{0x81, 0xc1, 0}}},
		{"a key twice, then cut", &event.Event{Body: []byte{0x83, 1, 1, 1, 2, 2}}},
		{"too deep", &event.Event{Body: append(append([]byte{0x81, 1}, bytes.Repeat([]byte{0x91}, 1000)...), 1)}},
		{"too deep in keys", &event.Event{Body: append(bytes.Repeat([]byte{0x81}, 1000), 1)}},
		{"cut metadata", &event.Event{Meta: []byte{0x81, 1}, Body: Pack(Map{})}},
		{"cut group", &event.Event{Group: &event.Group{Body: []byte{0x81, 1}}, Body: Pack(Map{})}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			enc := json.NewEncoder(json.Options{MetadataKey: "m", GroupKey: "g"})
			batch := &event.Batch{Events: []*event.Event{sound(1), row.bad, sound(2)}}
			out, rejects := enc.Encode(nil, batch)
			if string(out) != "{\"id\":1}\n{\"id\":2}\n" {
				t.Errorf("wrote %q", out)
			}
			if len(rejects) != 1 || rejects[0].Event != row.bad || rejects[0].Reason == "" {
				t.Errorf("rejects %+v", rejects)
			}
		})
	}
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	boom := errors.New("boom")
	events, _ := Read(Plain(2))
	for name, row := range map[string]struct {
		w    io.Writer
		want error
	}{
		"failing": {writerFunc(func(p []byte) (int, error) { return 3, boom }), boom},
		"short":   {writerFunc(func(p []byte) (int, error) { return 3, nil }), io.ErrShortWrite},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := json.New(json.Options{}).NewWriter(row.w, codec.Meta{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(&event.Batch{Events: events}); !errors.Is(err, row.want) {
				t.Errorf("Write: %v", err)
			}
			if _, err := w.Write(&event.Batch{}); !errors.Is(err, row.want) {
				t.Errorf("Write again: %v", err)
			}
			if err := w.Close(); !errors.Is(err, row.want) {
				t.Errorf("Close: %v", err)
			}
			if w.Size() != 3 {
				t.Errorf("size %d", w.Size())
			}
		})
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestDateFormatNames(t *testing.T) {
	for i, name := range json.DateFormats() {
		f, err := json.ParseDateFormat(strings.ToUpper(name))
		if err != nil || f != json.DateFormat(i) || f.String() != name {
			t.Errorf("%s is %v, %v", name, f, err)
		}
	}
	for _, name := range []string{"epoch_millis", "epoch_milliseconds"} {
		if f, err := json.ParseDateFormat(name); err != nil || f != json.EpochMillis {
			t.Errorf("%s is %v, %v", name, f, err)
		}
	}
	for _, name := range []string{"", "rfc3339"} {
		if _, err := json.ParseDateFormat(name); !errors.Is(err, json.ErrDateFormat) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if s := fmt.Sprint(json.DateFormat(99)); s == "" {
		t.Error("an unknown format prints as nothing")
	}
}
