package ltsv_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/labeled"
	"github.com/out-hdfs/out_hdfs/codec/ltsv"
)

func options(list string) labeled.Options {
	all, err := columns.Parse(list)
	if err != nil {
		panic(err)
	}
	return labeled.Options{Columns: all, Values: columns.Options{DateKey: "date", DateFormat: json.Epoch, TagKey: "tag"}}
}

func encode(o labeled.Options, e *event.Event) (string, []codec.Reject) {
	out, rejects := ltsv.New(o).NewBlockEncoder().Encode([]byte("x"), &event.Batch{Tag: "t", Events: []*event.Event{e}})
	return string(out[1:]), rejects
}

func TestLines(t *testing.T) {
	for _, tc := range []struct {
		name string
		list string // "" is all fields
		body Map
		want string
	}{
		{"all fields in order", "", Map{"b", 1, "a", "x"}, "date:7\ttag:t\tb:1\ta:x\n"},
		{"an empty record", "", Map{}, "date:7\ttag:t\n"},
		{"null is no field, empty text is", "", Map{"a", nil, "b", ""}, "date:7\ttag:t\tb:\n"},
		{"a tab and line breaks", "", Map{"a", "\t1\n2\r3\t"}, "date:7\ttag:t\ta:\\t1\\n2\\r3\\t\n"},
		{"a backslash stays", "", Map{"a", `C:\temp`}, "date:7\ttag:t\ta:C:\\temp\n"},
		{"a colon in a value stays", "", Map{"a", "1:2"}, "date:7\ttag:t\ta:1:2\n"},
		{"odd labels", "", Map{"a:b", 1, "", 2, "x\ty", 3, "日志", 4, "::", 5}, "date:7\ttag:t\ta%3Ab:1\t_:2\tx\\ty:3\t日志:4\t%3A%3A:5\n"},
		{"labels that are no text", "", Map{1, "a", nil, "b"}, "date:7\ttag:t\t1:a\tnull:b\n"},
		{"the last of two", "", Map{"a", 1, "b", 2, "a", 3}, "date:7\ttag:t\tb:2\ta:3\n"},
		{"the last of a text and a number", "", Map{1, "a", "1", "b"}, "date:7\ttag:t\t1:b\n"},
		{"fields named like the date and the tag", "", Map{"date", "d", "tag", "g"}, "date:d\ttag:g\n"},
		{"values", "", Map{"i", int64(math.MaxInt64), "f", math.NaN(), "b", true, "z", []byte{255}, "bt", []byte("a b"), "m", Map{"k", "\t"}},
			"date:7\ttag:t\ti:9223372036854775807\tf:NaN\tb:true\tz:data:;base64,/w==\tbt:a b\tm:{\"k\":\"\\t\"}\n"},
		{"columns", "b,x=$a['c'],date,$TAG,n", Map{"a", Map{"c", "y\tz"}, "b", 1, "n", nil}, "b:1\tx:y\\tz\tdate:7\ttag:t\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, rejects := encode(options(tc.list), &event.Event{Time: At(7, 0), Body: Pack(tc.body)})
			if got != tc.want || len(rejects) > 0 {
				t.Errorf("got %q, rejects %v; want %q", got, rejects, tc.want)
			}
		})
	}
}

func TestNoDateAndNoTag(t *testing.T) {
	got, _ := encode(labeled.Options{}, &event.Event{Time: At(7, 0), Body: Pack(Map{"a", 1})})
	if got != "a:1\n" {
		t.Errorf("got %q", got)
	}
	got, _ = encode(labeled.Options{Values: columns.Options{DateKey: "date"}}, &event.Event{Body: Pack(Map{"a", 1})})
	if got != "a:1\n" {
		t.Errorf("with a time that is unset: %q", got)
	}
}

func TestMetadataAndGroup(t *testing.T) {
	o := labeled.Options{Values: columns.Options{MetadataKey: "m", GroupKey: "g"}}
	group := &event.Group{Body: Pack(Map{"scope", "x\ty"})}
	for _, tc := range []struct {
		name  string
		event event.Event
		want  string
	}{
		{"both", event.Event{Meta: Pack(Map{"s", 9}), Group: group, Body: Pack(Map{"a", 1})}, "m:{\"s\":9}\tg:{\"scope\":\"x\\ty\"}\ta:1\n"},
		{"neither", event.Event{Meta: Pack(Map{}), Body: Pack(Map{"a", 1})}, "a:1\n"},
		{"the record's own", event.Event{Meta: Pack(Map{"s", 9}), Group: group, Body: Pack(Map{"g", 1, "m", 2})}, "g:1\tm:2\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, rejects := encode(o, &tc.event); got != tc.want || len(rejects) > 0 {
				t.Errorf("got %q, rejects %v; want %q", got, rejects, tc.want)
			}
		})
	}
}

func TestRejectsLeaveNoTrace(t *testing.T) {
	for _, tc := range []struct {
		name string
		list string
		bad  *event.Event
	}{
		{"malformed", "", &event.Event{Malformed: "no map"}},
		{"no record", "", &event.Event{}},
		{"nothing to write", "", &event.Event{Body: Pack(Map{"a", nil})}},
		{"no column has a value", "b", &event.Event{Body: Pack(Map{"a", 1})}},
		{"cut short", "", &event.Event{Body: []byte{0x82, 1, 1}}},
		{"a key cut short", "", &event.Event{Body: []byte{0x81, 0xa5, 'a'}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, _ := columns.Parse(tc.list)
			good := &event.Event{Body: Pack(Map{"b", 1})}
			b := &event.Batch{Events: []*event.Event{good, tc.bad, good}}
			out, rejects := ltsv.New(labeled.Options{Columns: all}).NewBlockEncoder().Encode(nil, b)
			if string(out) != "b:1\nb:1\n" || len(rejects) != 1 || rejects[0].Event != tc.bad || rejects[0].Reason == "" {
				t.Errorf("wrote %q, rejects %+v", out, rejects)
			}
		})
	}
}

// A record of many fields keeps the last of each key, in time that grows with
// their number.
func TestManyFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "fields")
		body, last := Map{}, map[string]int{}
		for i := range n {
			key := fmt.Sprint("k", rapid.IntRange(0, 120).Draw(t, "key"))
			body = append(body, key, i)
			last[key] = i
		}
		var want strings.Builder
		for i := 0; i < len(body); i += 2 {
			if key := body[i].(string); last[key] == i/2 {
				fmt.Fprintf(&want, "%s:%d\t", key, i/2)
			}
		}
		got, _ := encode(labeled.Options{}, &event.Event{Body: Pack(body)})
		if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want.String(), "\t") {
			t.Fatalf("got %q, want %q", got, want.String())
		}
	})
	took := func(n int) time.Duration {
		body := Map{}
		for i := range n {
			body = append(body, fmt.Sprint(i), i)
		}
		e := &event.Event{Body: Pack(body)}
		return CPUTime(t, func() { encode(labeled.Options{}, e) })
	}
	took(1000)
	if small, large := took(10_000), took(200_000); large > 400*small {
		t.Errorf("20 times the fields took %v instead of %v", large, small)
	}
}

func FuzzLTSV(f *testing.F) {
	for _, h := range HostileChunks() {
		if len(h.Chunk) < 5000 {
			f.Add(h.Chunk)
		}
	}
	f.Add(Kubernetes(2))
	format := ltsv.New(options(""))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		events, _ := Read(chunk)
		var out []byte
		var rejects []codec.Reject
		Bounded(t, len(chunk), func() {
			out, rejects = format.NewBlockEncoder().Encode(nil, &event.Batch{Tag: "t", Events: events})
		})
		lines := strings.Split(string(out), "\n")
		if len(lines)-1 != len(events)-len(rejects) {
			t.Fatalf("%d lines of %d events, %d of them rejected", len(lines)-1, len(events), len(rejects))
		}
		for _, line := range lines[:len(lines)-1] {
			for field := range strings.SplitSeq(line, "\t") {
				if label, _, ok := strings.Cut(field, ":"); !ok || label == "" {
					t.Errorf("%q of %q has no label", field, line)
				}
			}
		}
		i := 0
		for _, e := range events {
			if slices.ContainsFunc(rejects, func(r codec.Reject) bool { return r.Event == e }) {
				continue
			}
			fields := strings.Split(lines[i], "\t")
			for _, want := range textFields(e.Body) {
				if !slices.Contains(fields, want) {
					t.Errorf("%q isn't in %q", want, lines[i])
				}
			}
			i++
		}
	})
}

// textFields are the fields of a record whose values are text, as a line has
// them.
func textFields(body []byte) (all []string) {
	var keys json.Appender
	last := map[string][]byte{}
	for f := event.FieldsOf(body); f.Next(); {
		key, ok := event.Text(f.Key)
		if !ok {
			key, _ = keys.AppendValue(nil, f.Key)
		}
		last[string(key)] = f.Value
	}
	valid := func(s string) string { return string(event.AppendValidUTF8(nil, []byte(s))) }
	breaks := strings.NewReplacer("\t", "\\t", "\n", "\\n", "\r", "\\r")
	for key, raw := range last {
		if text, ok := event.Text(raw); ok && event.KindOf(raw) == event.KindString {
			label := strings.ReplaceAll(breaks.Replace(valid(key)), ":", "%3A")
			if label == "" {
				label = "_"
			}
			all = append(all, label+":"+breaks.Replace(valid(string(text))))
		}
	}
	return all
}

func TestEncodingAllocatesNothing(t *testing.T) {
	events, _ := Read(Kubernetes(50))
	b := &event.Batch{Events: events}
	for _, list := range []string{"", "date,log,$kubernetes['pod_name']"} {
		enc := ltsv.New(options(list)).NewBlockEncoder()
		dst := make([]byte, 0, 1<<20)
		if n := testing.AllocsPerRun(10, func() { dst, _ = enc.Encode(dst[:0], b) }); n != 0 {
			t.Errorf("%q: %v allocations", list, n)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	for name, chunk := range map[string][]byte{"kubernetes": Kubernetes(1000), "plain": Plain(1000)} {
		b.Run(name, func(b *testing.B) {
			events, _ := Read(chunk)
			batch := &event.Batch{Events: events}
			enc := ltsv.New(options("")).NewBlockEncoder()
			var dst []byte
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = enc.Encode(dst[:0], batch)
			}
		})
	}
}
