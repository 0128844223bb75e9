package readers

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logfmt/logfmt"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/conf"
)

func csvRows() []row {
	const list = "date,id,text,opt,big,ratio,flag,nested,pod=$nested['pod name'],$TAG,missing,a.b,日志,with space,UPPER,$['quote\"d']"
	names := []any{"date", "id", "text", "opt", "big", "ratio", "flag", "nested", "pod", "tag", "missing", "a.b", "日志", "with space", "UPPER", "quote\"d"}
	want := func(i int, _ string) string {
		m := recordOf(i)
		nested := fmt.Sprintf(`{"pod name":"web-%d","list":[%d,%d]}`, i, i, -i)
		row := eventtest.Map{"date", fmt.Sprint(millis(i)), "nested", nested, "pod", fmt.Sprint("web-", i), "tag", tag}
		for _, name := range []string{"id", "text", "opt", "big", "ratio", "flag", "a.b", "日志", "with space", "UPPER", "quote\"d"} {
			row = append(row, name, asText(field(m, name)))
		}
		return Canonical(row)
	}
	csv := func(name string, options map[string]any, pairs ...string) row {
		options["columns"] = names
		return row{
			name: "csv " + name, keys: keys(append([]string{conf.KeyFormat, "csv", conf.KeyColumns, list}, pairs...)...),
			readers: []string{"pyarrow", "duckdb", "spark"}, want: want, options: options, plain: "csv " + name,
		}
	}
	compressed := csv("header gzip", map[string]any{"header": true}, conf.KeyCSVHeader, "on", conf.KeyCompression, "gzip")
	compressed.plain, compressed.tool = "csv header", "gzip"
	return []row{
		csv("none", map[string]any{}),
		csv("header", map[string]any{"header": true}, conf.KeyCSVHeader, "on"),
		csv("tab CRLF", map[string]any{"delimiter": "\t"}, conf.KeyCSVDelimiter, "tab", conf.KeyCSVLineEnding, "crlf"),
		compressed,
	}
}

// asText is a scalar as a reader of CSV finds it.
func asText(v any) any {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return jsonFloat(v)
	}
	return v
}

func jsonFloat(f float64) string {
	switch {
	case f != f:
		return "NaN"
	case f >= 1e21 || f != 0 && f < 1e-6:
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// lineRows are formats whose lines have no reader but of lines.
func lineRows() []row {
	return []row{
		{name: "text none", keys: keys(conf.KeyFormat, "text", conf.KeyTextKey, "$nested['pod name']"),
			readers: []string{"spark"}, plain: "text none",
			want: func(i int, _ string) string { return Canonical(eventtest.Map{"value", fmt.Sprint("web-", i)}) }},
		{name: "text snappy", keys: keys(conf.KeyFormat, "text", conf.KeyTextKey, "$nested['pod name']", conf.KeyCompression, "snappy"),
			readers: []string{"spark"}, plain: "text none",
			want: func(i int, _ string) string { return Canonical(eventtest.Map{"value", fmt.Sprint("web-", i)}) }},
		{name: "ltsv none", keys: keys(conf.KeyFormat, "ltsv"), plain: "ltsv none"},
		{name: "logfmt none", keys: keys(conf.KeyFormat, "logfmt"), plain: "logfmt none"},
		{name: "logfmt gzip", keys: keys(conf.KeyFormat, "logfmt", conf.KeyCompression, "gzip"), plain: "logfmt none"},
		{name: "ltsv lz4", keys: keys(conf.KeyFormat, "ltsv", conf.KeyCompression, "lz4"), plain: "ltsv none"},
	}
}

// TestLogfmt reads the lines with the library that Loki uses.
func TestLogfmt(t *testing.T) {
	s := open(t)
	d := logfmt.NewDecoderSize(bytes.NewReader(s.content(t, "logfmt none")), 16<<20) // a line may be long
	i := 0
	for ; d.ScanRecord(); i++ {
		got := map[string]string{}
		for d.ScanKeyval() {
			got[string(d.Key())] = string(d.Value())
		}
		m := recordOf(i)
		want := map[string]any{"date": fmt.Sprint(millis(i)), "nested": fmt.Sprintf(`{"pod name":"web-%d","list":[%d,%d]}`, i, i, -i)}
		for _, name := range []string{"id", "text", "opt", "big", "ratio", "flag"} {
			want[name] = asText(field(m, name))
		}
		for name, value := range want {
			if text, ok := value.(string); ok && got[name] != text {
				t.Fatalf("line %d has %s %q, want %q", i, name, got[name], text)
			}
		}
	}
	if err := d.Err(); err != nil || i != count {
		t.Fatalf("%d lines, want %d, %v", i, count, err)
	}
}

// TestLTSV reads the lines as any reader of LTSV does: fields end at tabs, and
// a label at the first colon.
func TestLTSV(t *testing.T) {
	s := open(t)
	lines := strings.Split(strings.TrimSuffix(string(s.content(t, "ltsv none")), "\n"), "\n")
	if len(lines) != count {
		t.Fatalf("%d lines, want %d", len(lines), count)
	}
	escape := strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`)
	for i, line := range lines {
		got := eventtest.Map{}
		for field := range strings.SplitSeq(line, "\t") {
			label, value, _ := strings.Cut(field, ":")
			got = append(got, label, value)
		}
		m := recordOf(i)
		want := eventtest.Map{"date", fmt.Sprint(millis(i)), "nested", fmt.Sprintf(`{"pod name":"web-%d","list":[%d,%d]}`, i, i, -i)}
		for _, name := range append([]string{"id", "text", "opt", "big", "ratio", "flag"}, oddNames...) {
			if text, ok := asText(field(m, name)).(string); ok {
				want = append(want, name, escape.Replace(text))
			}
		}
		if Canonical(got) != Canonical(want) {
			t.Fatalf("line %d is\n%s\nwant\n%s", i, Canonical(got), Canonical(want))
		}
	}
}

func sequenceFileRows() []row {
	line := func(i int) string {
		b, err := jsonLine(i)
		if err != nil {
			panic(err)
		}
		return b
	}
	asJSON := func(i int, _ string) string {
		return Canonical(eventtest.Map{"key", millis(i), "value", line(i)})
	}
	asBytes := func(i int, _ string) string {
		return Canonical(eventtest.Map{"key", millis(i), "value", []byte(line(i))})
	}
	seq := func(want func(int, string) string, compression string, pairs ...string) row {
		return row{
			name:    strings.Join(append([]string{"sequencefile", compression}, pairs...), " "),
			keys:    keys(append([]string{conf.KeyFormat, "sequencefile", conf.KeyCompression, compression}, pairs...)...),
			readers: []string{"spark"}, want: want,
		}
	}
	text := seq(func(i int, _ string) string {
		return Canonical(eventtest.Map{"key", millis(i), "value", strings.TrimSuffix(recordOf(i)[3].(string), "\n")})
	}, "deflate", conf.KeySequenceFileValue, "text", conf.KeyTextKey, "text")
	return []row{
		seq(asJSON, "none"),
		seq(asJSON, "deflate"),
		seq(asJSON, "deflate", conf.KeySequenceFileType, "record"),
		seq(asBytes, "deflate", conf.KeySequenceFileClass, "bytes"),
		seq(asJSON, "gzip"),
		seq(asJSON, "bzip2"),
		seq(asJSON, "snappy"),
		seq(asJSON, "snappy", conf.KeySequenceFileType, "record"),
		seq(asJSON, "lz4"),
		text,
	}
}

// jsonLine is the line of record i, by the encoder of lines, whose files other
// readers have read.
func jsonLine(i int) (string, error) {
	e := event.Event{Time: eventtest.At(second(i), 123456789), Body: eventtest.Pack(recordOf(i))}
	enc := json.NewEncoder(json.Options{DateKey: "date", DateFormat: json.EpochMillis})
	line, reason := enc.AppendLine(nil, &e, tag)
	if reason != "" {
		return "", errors.New(reason)
	}
	return string(bytes.TrimSuffix(line, []byte("\n"))), nil
}

// TestHadoopReadsSequenceFiles prints keys and values by `hdfs dfs -text`.
func TestHadoopReadsSequenceFiles(t *testing.T) {
	s := open(t)
	var want bytes.Buffer
	for i := range count {
		line, err := jsonLine(i)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "%d\t%s\n", millis(i), line)
	}
	expected := map[string][]byte{}
	for _, name := range []string{"none", "deflate", "deflate sequencefile_type record", "snappy", "lz4", "bzip2"} {
		expected["sequencefile "+name] = want.Bytes()
	}
	s.hadoopText(t, expected)
}
