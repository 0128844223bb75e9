package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/csv"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// options are those of a list of columns, with epoch dates.
func options(list string) csv.Options {
	all, err := columns.Parse(list)
	if err != nil {
		panic(err)
	}
	return csv.Options{Columns: all, Values: columns.Options{DateKey: "date", DateFormat: json.Epoch}}
}

func format(t testing.TB, o csv.Options) codec.BlockFormat {
	t.Helper()
	f, err := csv.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func batch(bodies ...Map) *event.Batch {
	b := &event.Batch{Tag: "kube.app"}
	for _, body := range bodies {
		b.Events = append(b.Events, &event.Event{Time: At(7, 0), Body: Pack(body)})
	}
	return b
}

func TestRows(t *testing.T) {
	for _, tc := range []struct {
		name string
		list string
		body Map
		want string
	}{
		{"plain", "a,b", Map{"b", 2, "a", "x"}, "x,2\n"},
		{"null and missing", "a,b,c", Map{"b", nil, "c", 1}, ",,1\n"},
		{"null and missing behind", "a,b,c", Map{"a", 1, "b", nil}, "1,,\n"},
		{"bytes that are text", "a", Map{"a", []byte("x,y")}, `"x,y"` + "\n"},
		{"other bytes", "a", Map{"a", []byte{255}}, `"data:;base64,/w=="` + "\n"},
		{"an empty text", "a,b", Map{"a", ""}, `"",` + "\n"},
		{"a comma", "a", Map{"a", "x,y"}, `"x,y"` + "\n"},
		{"a quote", "a", Map{"a", `"`}, `""""` + "\n"},
		{"quotes", "a", Map{"a", `say "hi", "you"`}, `"say ""hi"", ""you"""` + "\n"},
		{"quotes only", "a", Map{"a", `"""`}, `""""""""` + "\n"},
		{"a newline", "a", Map{"a", "x\ny"}, "\"x\ny\"\n"},
		{"a carriage return", "a", Map{"a", "x\ry"}, "\"x\ry\"\n"},
		{"a blank before", "a", Map{"a", " x"}, `" x"` + "\n"},
		{"a tab behind", "a", Map{"a", "x\t"}, "\"x\t\"\n"},
		{"a blank within", "a", Map{"a", "x y"}, "x y\n"},
		{"a backslash stays", "a", Map{"a", `C:\temp`}, `C:\temp` + "\n"},
		{"Chinese and emoji", "a", Map{"a", "订单🙂"}, "订单🙂\n"},
		{"a NUL byte", "a", Map{"a", "\x00"}, "\x00\n"},
		{"nested", "a", Map{"a", Map{"b", "x"}}, `"{""b"":""x""}"` + "\n"},
		{"numbers", "a,b,c", Map{"a", uint64(math.MaxUint64), "b", 0.1, "c", math.Inf(-1)}, "18446744073709551615,0.1,-Infinity\n"},
		{"the date and the tag", "date,$TAG[1],a", Map{"a", 1}, "7,app,1\n"},
		{"an empty text alone", "a", Map{"a", ""}, `""` + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, rejects := format(t, options(tc.list)).NewBlockEncoder().Encode([]byte("x"), batch(tc.body))
			if string(out) != "x"+tc.want || len(rejects) > 0 {
				t.Errorf("got %q, rejects %v; want %q", out[1:], rejects, tc.want)
			}
		})
	}
}

func TestDialects(t *testing.T) {
	b := batch(Map{"a", "x;y,z", "b", "1\t2"})
	for _, tc := range []struct {
		name   string
		change func(*csv.Options)
		want   string
	}{
		{"CRLF", func(o *csv.Options) { o.CRLF = true }, "\"x;y,z\",1\t2\r\n"},
		{"semicolons", func(o *csv.Options) { o.Delimiter = ';' }, "\"x;y,z\";1\t2\n"},
		{"tabs", func(o *csv.Options) { o.Delimiter = '\t' }, "x;y,z\t\"1\t2\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := options("a,b")
			tc.change(&o)
			if out, _ := format(t, o).NewBlockEncoder().Encode(nil, b); string(out) != tc.want {
				t.Errorf("got %q, want %q", out, tc.want)
			}
		})
	}
}

func TestOptionsThatCantBe(t *testing.T) {
	if _, err := csv.New(csv.Options{}); !errors.Is(err, csv.ErrColumns) {
		t.Errorf("without columns: %v", err)
	}
	for _, d := range []byte("\"\r\n") {
		o := options("a")
		o.Delimiter = d
		if _, err := csv.New(o); !errors.Is(err, csv.ErrDelimiter) {
			t.Errorf("%q: %v", d, err)
		}
	}
}

func TestTheHeaderIsWrittenOnceAndOnlyWithRows(t *testing.T) {
	for _, tc := range []struct {
		name        string
		compression string
		shares      []*event.Batch
		want        string
	}{
		{"rows", compress.None, []*event.Batch{batch(Map{"a", 1}), batch(Map{"a", 2})}, "a,\"b \"\"c\"\"\"\n1,\n2,\n"},
		{"no rows", compress.None, []*event.Batch{batch()}, ""},
		{"no share", compress.None, nil, ""},
		{"compressed", compress.Zstd, []*event.Batch{batch(Map{"a", 1}), batch(Map{"a", 2})}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := options(`a,$['b "c"']`)
			o.Header = true
			f, err := compress.Wrap(format(t, o), tc.compression, 0)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var out bytes.Buffer
				w, err := f.NewWriter(&out, codec.Meta{})
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range tc.shares {
					if _, err := w.Write(b); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil || w.Size() != int64(out.Len()) {
					t.Errorf("size %d of %d bytes, error %v", w.Size(), out.Len(), err)
				}
				if tc.compression == compress.None && out.String() != tc.want {
					t.Errorf("got %q, want %q", out.String(), tc.want)
				}
			}
		})
	}
}

func TestRejectsLeaveNoTrace(t *testing.T) {
	good := batch(Map{"a", 1}).Events[0]
	for name, bad := range map[string]*event.Event{
		"malformed": {Malformed: "no map"},
		"no record": {},
	} {
		t.Run(name, func(t *testing.T) {
			out, rejects := format(t, options("a")).NewBlockEncoder().Encode(nil, &event.Batch{Events: []*event.Event{good, bad, good}})
			if string(out) != "1\n1\n" || len(rejects) != 1 || rejects[0].Event != bad || rejects[0].Reason == "" {
				t.Errorf("wrote %q, rejects %+v", out, rejects)
			}
		})
	}
}

// Another reader of CSV finds each field as it is.
func TestAnyTextComesBack(t *testing.T) {
	o := options("a,b,c")
	rapid.Check(t, func(t *rapid.T) {
		o.CRLF = rapid.Bool().Draw(t, "crlf")
		o.Delimiter = rapid.SampledFrom([]byte{',', ';', '\t', '|', ' '}).Draw(t, "delimiter")
		text := rapid.OneOf(Texts(), rapid.StringOf(rapid.SampledFrom([]rune("\",;\t| \r\nab"))))
		var want [][]string
		var bodies []Map
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row := []string{text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")}
			bodies = append(bodies, Map{"a", row[0], "b", row[1], "c", row[2]})
			for i, s := range row {
				// The standard reader turns \r\n within quotes to \n.
				row[i] = strings.ReplaceAll(string(event.AppendValidUTF8(nil, []byte(s))), "\r\n", "\n")
			}
			want = append(want, row)
		}
		f, err := csv.New(o)
		if err != nil {
			t.Fatal(err)
		}
		out, rejects := f.NewBlockEncoder().Encode(nil, batch(bodies...))
		r := stdcsv.NewReader(bytes.NewReader(out))
		r.Comma = rune(o.Delimiter)
		got, err := r.ReadAll()
		if err != nil || len(rejects) > 0 || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Fatalf("%q was read as %q, error %v; want %q", out, got, err, want)
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, h := range HostileChunks() {
		if len(h.Chunk) < 5000 {
			f.Add(h.Chunk)
		}
	}
	f.Add(Kubernetes(2))
	o := options("date,id,log,v,$v['a'],k=$kubernetes,$TAG")
	format, err := csv.New(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		events, _ := Read(chunk)
		var out []byte
		var rejects []codec.Reject
		Bounded(t, len(chunk), func() {
			out, rejects = format.NewBlockEncoder().Encode(nil, &event.Batch{Tag: "t", Events: events})
		})
		rows, err := stdcsv.NewReader(bytes.NewReader(out)).ReadAll()
		if err != nil || len(rows) != len(events)-len(rejects) {
			t.Fatalf("%d rows of %d events, %d of them rejected, error %v", len(rows), len(events), len(rejects), err)
		}
		values := columns.NewRenderer(o.Columns, o.Values)
		i := 0
		for _, e := range events {
			if e.Malformed != "" {
				continue
			}
			values.Read(e)
			for k := range o.Columns {
				text, _ := values.Append(nil, k, "t")
				if want := strings.ReplaceAll(string(text), "\r\n", "\n"); rows[i][k] != want {
					t.Errorf("row %d has %q for %s, want %q", i, rows[i][k], o.Columns[k].Name, want)
				}
			}
			i++
		}
	})
}

func TestEncodingAllocatesNothing(t *testing.T) {
	events, _ := Read(Kubernetes(50))
	b := &event.Batch{Events: events}
	enc := format(t, options("date,log,level,id,latency,ok,$kubernetes['pod_name'],kubernetes")).NewBlockEncoder()
	dst := make([]byte, 0, 1<<20)
	if n := testing.AllocsPerRun(10, func() { dst, _ = enc.Encode(dst[:0], b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
