package partition

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/tinylib/msgp/msgp"
)

var arrival = time.Date(2026, 11, 29, 22, 3, 12, 0, time.UTC)

// record is an event of 2026-11-29T12:00:00Z with the pairs of keys and raw
// values.
func record(pairs ...any) *event.Event {
	body := msgp.AppendMapHeader(nil, uint32(len(pairs)/2))
	for i := 0; i < len(pairs); i += 2 {
		body = msgp.AppendString(body, pairs[i].(string))
		body = append(body, pairs[i+1].([]byte)...)
	}
	return &event.Event{Body: body, Time: event.Time{Sec: 1795953600, Set: true}}
}

func str(s string) []byte { return msgp.AppendString(nil, s) }

func bucket(t testing.TB, by string, e *event.Event, tag string) (string, error) {
	t.Helper()
	a, err := New(Options{By: by, Zone: time.UTC, Source: "record"})
	if err != nil {
		t.Fatal(err)
	}
	return a.Bucket(e, &assigner.Context{Tag: tag, Arrival: arrival})
}

func TestTemplates(t *testing.T) {
	kubernetes := append(append(msgp.AppendMapHeader(nil, 1), str("namespace_name")...), str("web")...)
	odd := append(append(msgp.AppendMapHeader(nil, 1), str("a,b]'=")...), str("odd")...)
	e := record("kubernetes", kubernetes, "odd", odd, "host", str("h1"), "empty", str(""), "null", msgp.AppendNil(nil))
	for _, tc := range []struct{ name, by, want string }{
		{"the manual's example", "dt=%Y-%m-%d, ns=$kubernetes['namespace_name'], tag=$TAG", "dt=2026-11-29/ns=web/tag=app.web.log"},
		{"one field", "host=$host", "host=h1"},
		{"part of the tag", "t=$TAG[1]", "t=web"},
		{"part the tag hasn't", "t=$TAG[7]", "t=__HIVE_DEFAULT_PARTITION__"},
		{"text alone", "source=agent", "source=agent"},
		{"text around accessors", "x=a-$TAG[0].$host!", "x=a-app.h1!"},
		{"accessor after accessor", "x=$TAG[0]$host", "x=apph1"},
		{"conversions between accessors", "x=$TAG[0] %H %d $host", "x=app 12 29 h1"},
		{"time is escaped", "t=%H:%M", "t=12%3A00"},
		{"a slash in text is no folder", "t=%Y/%m", "t=2026%2F11"},
		{"percent sign", "t=5%%", "t=5%25"},
		{"percent sign before a letter", "t=%%Y", "t=%25Y"},
		{"dollar sign", "t=$$host", "t=$host"},
		{"comma and quote in brackets", "x=$odd['a,b]''='], y=1", "x=odd/y=1"},
		{"blanks around everything", "  a = b c ,  d =  %Y  ", "a=b c/d=2026"},
		{"names in lower case", "DT=%Y,Ärger=1", "dt=2026/ärger=1"},
		{"a name that needs escapes", "a:b/c=1", "a%3Ab%2Fc=1"},
		{"missing", "x=$nope", "x=__HIVE_DEFAULT_PARTITION__"},
		{"missing inside", "x=$kubernetes['nope']['x']", "x=__HIVE_DEFAULT_PARTITION__"},
		{"null", "x=$null", "x=__HIVE_DEFAULT_PARTITION__"},
		{"empty", "x=$empty", "x=__HIVE_DEFAULT_PARTITION__"},
		{"null beside text", "x=a$null", "x=__HIVE_DEFAULT_PARTITION__"},
		{"missing beside time", "x=%Y$nope, y=$host", "x=__HIVE_DEFAULT_PARTITION__/y=h1"},
		{"empty beside text", "x=a$empty", "x=a"},
		{"equals sign in a template", "x=a=b", "x=a%3Db"},
		{"wide conversions", "x=%10Y%-d%3N", "x=000000202629000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := bucket(t, tc.by, e, "app.web.log"); got != tc.want || err != nil {
				t.Errorf("bucket %q, error %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	for _, tc := range []struct {
		name string
		raw  []byte
		want string // behind "x="
		err  error
	}{
		{"text", str("web"), "web", nil},
		{"binary", msgp.AppendBytes(nil, []byte("web")), "web", nil},
		{"empty binary", msgp.AppendBytes(nil, nil), "__HIVE_DEFAULT_PARTITION__", nil},
		{"a way out", str("../../../etc"), "..%2F..%2F..%2Fetc", nil},
		{"parent", str(".."), "..", nil},
		{"a hidden name", str("_tmp"), "_tmp", nil},
		{"colon, equals, percent", str("a:b=c%d"), "a%3Ab%3Dc%25d", nil},
		{"umlauts and Chinese", str("Köln 上海"), "Köln 上海", nil},
		{"not UTF-8", str("a\xff"), "a%FF", nil},
		{"control characters", str("a\x00\n"), "a%00%0A", nil},
		{"a text that looks like a template", str("%Y$TAG{x}"), "%25Y$TAG%7Bx}", nil},
		{"integer", msgp.AppendInt64(nil, -42), "-42", nil},
		{"largest integer", msgp.AppendUint64(nil, math.MaxUint64), "18446744073709551615", nil},
		{"float", msgp.AppendFloat64(nil, 0.25), "0.25", nil},
		{"whole float", msgp.AppendFloat64(nil, 3), "3.0", nil},
		{"NaN", msgp.AppendFloat64(nil, math.NaN()), "NaN", nil},
		{"boolean", msgp.AppendBool(nil, true), "true", nil},
		{"null", msgp.AppendNil(nil), "__HIVE_DEFAULT_PARTITION__", nil},
		{"longest", str(strings.Repeat("x", 253)), strings.Repeat("x", 253), nil},
		{"longest with escapes", str(strings.Repeat("/", 84)), strings.Repeat("%2F", 84), nil},
		{"too long", str(strings.Repeat("x", 254)), "", ErrTooLong},
		{"too long with escapes", str(strings.Repeat("/", 85)), "", ErrTooLong},
		{"much too long", str(strings.Repeat("x", 1<<20)), "", ErrTooLong},
		{"too long in bytes only", str(strings.Repeat("上", 85)), "", ErrTooLong},
		{"spelled like null", str("__HIVE_DEFAULT_PARTITION__"), "", ErrNull},
		{"spelled almost like null", str("__hive_default_partition__"), "__hive_default_partition__", nil},
		{"map", msgp.AppendMapHeader(nil, 0), "", ErrKind},
		{"list", msgp.AppendArrayHeader(nil, 0), "", ErrKind},
		{"extension", []byte{0xd4, 5, 1}, "", ErrKind},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := bucket(t, "x=$v", record("v", tc.raw), "")
			want := ""
			if tc.err == nil {
				want = "x=" + tc.want
			}
			if got != want || !errors.Is(err, tc.err) {
				t.Errorf("bucket %q, error %v, want %q, %v", got, err, want, tc.err)
			}
		})
	}
}

func TestABucketAsAWholeIsBounded(t *testing.T) {
	var by []string
	for _, name := range "abcdefghijklmnopqrst" {
		by = append(by, string(name)+"=$v")
	}
	list := strings.Join(by, ",")
	if got, err := bucket(t, list, record("v", str("x")), ""); err != nil || strings.Count(got, "/") != 19 {
		t.Errorf("bucket %q, error %v", got, err)
	}
	if got, err := bucket(t, list, record("v", str(strings.Repeat("x", 200))), ""); !errors.Is(err, ErrTooLong) {
		t.Errorf("bucket %q, error %v", got, err)
	}
}

func TestTimeSourceIsThatOfTheOptions(t *testing.T) {
	for _, tc := range []struct{ source, want string }{
		{"record", "dt=2026-11-29--13"}, {"arrival", "dt=2026-11-29--23"}, {"$t", "dt=2001-09-09--03"},
	} {
		t.Run(tc.source, func(t *testing.T) {
			berlin, err := time.LoadLocation("Europe/Berlin")
			if err != nil {
				t.Fatal(err)
			}
			a, err := New(Options{By: "dt=%F--%H", Zone: berlin, Source: tc.source})
			if err != nil {
				t.Fatal(err)
			}
			got, err := a.Bucket(record("t", msgp.AppendInt64(nil, 1e9)), &assigner.Context{Arrival: arrival})
			if got != tc.want || err != nil {
				t.Errorf("bucket %q, error %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestRefusedLists(t *testing.T) {
	for _, tc := range []struct {
		name, by string
		offset   int
		err      error
	}{
		{"empty", "", 0, nil},
		{"no template sign", "dt", 0, nil},
		{"an accessor alone", "$ns", 0, nil},
		{"second field without sign", "dt=%Y, ns", 7, nil},
		{"no name", "=x", 0, nil},
		{"no template", "dt=", 3, nil},
		{"blank template", "dt=  ,x=1", 3, nil},
		{"trailing comma", "dt=1,", 5, nil},
		{"two commas", "dt=1,,x=1", 5, nil},
		{"hidden name", "_dt=1", 0, nil},
		{"dot name", "a=1,.dt=1", 4, nil},
		{"accessor for a name", "$dt=1", 0, nil},
		{"conversion for a name", "%Y=1", 0, nil},
		{"control character in a name", "a\tb=1", 0, nil},
		{"twice", "dt=1,x=2,DT=3", 9, nil},
		{"quoted template", "dt='%Y'", 3, nil},
		{"double quotes", `dt="x"`, 3, nil},
		{"no such conversion", "dt=%Y%Q", 5, nil},
		{"percent at the end", "dt=5%", 4, nil},
		{"percent before the comma", "dt=5%,x=1", 4, nil},
		{"dollar at the end", "dt=$", 3, event.ErrAccessor},
		{"open bracket", "dt=$a['b", 3, event.ErrAccessor},
		{"capture of a regular expression", "dt=$1", 3, event.ErrAccessor},
		{"not UTF-8", "dt=\xff", 0, nil},
		{"text too long", "dt=" + strings.Repeat("x", 300), 3, nil},
		{"pattern too long", "dt=%Y" + strings.Repeat("x", 600), 3, nil},
		{"too many fields", "x=1" + manyFields(), len(manyFields()) + 3, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := New(Options{By: tc.by, Zone: time.UTC, Source: "record"})
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || tc.err != nil && !errors.Is(err, tc.err) {
				t.Fatalf("error is %v", err)
			}
			if syntax.Offset != tc.offset {
				t.Errorf("refused at %d: %s, want %d", syntax.Offset, syntax.Reason, tc.offset)
			}
		})
	}
}

// manyFields are fields a0 to a31, each with a comma before it.
func manyFields() string {
	var b strings.Builder
	for i := range MaxFields {
		b.WriteString(",a" + string(rune('A'+i/26)) + string(rune('a'+i%26)) + "=1")
	}
	return b.String()
}

func TestABucketSeenBeforeAllocatesNothing(t *testing.T) {
	a, err := New(Options{By: "dt=%Y-%m-%d,host=$host,tag=$TAG[1]", Zone: time.UTC, Source: "record"})
	if err != nil {
		t.Fatal(err)
	}
	e, c := record("host", str("web/1")), &assigner.Context{Tag: "app.web.log", Arrival: arrival}
	n := testing.AllocsPerRun(100, func() {
		if _, err := a.Bucket(e, c); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkBucket(b *testing.B) {
	a, err := New(Options{By: "dt=%Y-%m-%d,host=$host,tag=$TAG[1]", Zone: time.UTC, Source: "record"})
	if err != nil {
		b.Fatal(err)
	}
	e, c := record("log", str(strings.Repeat("x", 200)), "host", str("web-1")), &assigner.Context{Tag: "app.web.log", Arrival: arrival}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Bucket(e, c); err != nil {
			b.Fatal(err)
		}
	}
}
