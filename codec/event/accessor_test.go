package event_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

var record = Map{
	"log", "hello",
	"n", 42,
	"none", nil,
	"dup", "first",
	"dup", "second",
	"a-b/c_1", "punctuation",
	"a.b", "dots",
	"it's", "a quote",
	"", "empty key",
	"中文", "unicode",
	[]byte("bin"), "bin key",
	7, "integer key",
	"kubernetes", Map{
		"labels", Map{"app.kubernetes.io/name", "shop", "app", "x"},
		"list", []any{"zero", Map{"k", "one"}, []any{"two"}},
	},
	"matrix", []any{[]any{1, 2}, []any{3, 4}},
	"TAGS", "a key like the tag",
	"long key of more than thirty-one bytes", "long",
}

func TestAccessorFindsValues(t *testing.T) {
	rows := []struct {
		accessor string
		want     any
	}{
		{"$log", "hello"},
		{"$n", 42},
		{"$none", nil},
		{"$dup", "second"},
		{"$a-b/c_1", "punctuation"},
		{"$['a.b']", "dots"},
		{"$['it''s']", "a quote"},
		{`$["it's"]`, "a quote"},
		{"$['']", "empty key"},
		{"$['中文']", "unicode"},
		{"$bin", "bin key"},
		{"$['TAGS']", "a key like the tag"},
		{"$['long key of more than thirty-one bytes']", "long"},
		{"$kubernetes['labels']['app']", "x"},
		{`$kubernetes["labels"]["app"]`, "x"},
		{"$kubernetes['labels']['app.kubernetes.io/name']", "shop"},
		{"$kubernetes['labels']", Map{"app.kubernetes.io/name", "shop", "app", "x"}},
		{"$kubernetes['list'][0]", "zero"},
		{"$kubernetes['list'][1]['k']", "one"},
		{"$kubernetes['list'][2][0]", "two"},
		{"$matrix[1][0]", 3},
	}
	e := only(t, Event(At(1, 0), Map{}, record))
	for _, row := range rows {
		t.Run(row.accessor, func(t *testing.T) {
			a, err := event.ParseAccessor(row.accessor)
			if err != nil {
				t.Fatal(err)
			}
			if a.String() != row.accessor {
				t.Errorf("prints as %q", a)
			}
			raw, ok := a.Lookup(e)
			if !ok || !bytes.Equal(raw, Pack(row.want)) {
				t.Errorf("got %x, %v; want %x", raw, ok, Pack(row.want))
			}
		})
	}
}

func TestAccessorFindsNothing(t *testing.T) {
	rows := []string{
		"$missing", "$lo", "$logs", "$LOG", "$log['sub']", "$log[0]", "$n['x']", "$none['x']",
		"$kubernetes['missing']", "$kubernetes[0]", "$kubernetes['list'][3]", "$kubernetes['list']['k']",
		"$kubernetes['list'][2147483647]", "$matrix[0][2]", "$['7']", "$TAG", "$TAG[0]",
	}
	e := only(t, Event(At(1, 0), Map{}, record))
	for _, s := range rows {
		t.Run(s, func(t *testing.T) {
			a, err := event.ParseAccessor(s)
			if err != nil {
				t.Fatal(err)
			}
			if raw, ok := a.Lookup(e); ok || raw != nil {
				t.Errorf("found %x", raw)
			}
		})
	}
}

func TestAccessorReadsTag(t *testing.T) {
	rows := []struct {
		accessor, tag, want string
		ok                  bool
	}{
		{"$TAG", "kube.var.log", "kube.var.log", true},
		{"$TAG", "", "", true},
		{"$TAG[0]", "kube.var.log", "kube", true},
		{"$TAG[2]", "kube.var.log", "log", true},
		{"$TAG[3]", "kube.var.log", "", false},
		{"$TAG[0]", "nodots", "nodots", true},
		{"$TAG[1]", "nodots", "", false},
		{"$TAG[1]", "a..b", "", true},
		{"$TAG[2]", "a..b", "b", true},
		{"$log", "kube", "", false},
	}
	for _, row := range rows {
		t.Run(row.accessor+" of "+row.tag, func(t *testing.T) {
			a, err := event.ParseAccessor(row.accessor)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := a.Tag(row.tag); got != row.want || ok != row.ok {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}

func TestBadAccessors(t *testing.T) {
	rows := []string{
		"", "log", "$", "$$", "$1", "$0x", "$-a", "$ a", "$[", "$[0]", "$[]", "$['a", "$['a'", "$a[", "$a[]", "$a[-1]",
		"$a[1", "$a[b]", "$a['b'", "$a['b]", "$a[99999999999]", "$a.b", "$a.b['c']", "$a b", "$a['b'].c", "$a['b']x",
		"$TAGS", "$TAG.x", "$TAG['x']", "$TAG[-1]", "$TAG[", "$a()", "$中文", "$a$b", "$a,", `$a"`,
	}
	for _, s := range rows {
		t.Run(s, func(t *testing.T) {
			a, err := event.ParseAccessor(s)
			if a != nil || !errors.Is(err, event.ErrAccessor) {
				t.Errorf("got %v, %v", a, err)
			}
		})
	}
}

func TestAccessorWithinAText(t *testing.T) {
	rows := []struct{ in, accessor, rest string }{
		{"$a.b", "$a", ".b"},
		{"$a, k=$b", "$a", ", k=$b"},
		{"$a['x']/$b", "$a['x']", "/$b"},
		{"$TAG_x", "$TAG", "_x"},
		{"$TAG[1]-$TAG[0]", "$TAG[1]", "-$TAG[0]"},
		{"$a[0] b", "$a[0]", " b"},
	}
	for _, row := range rows {
		t.Run(row.in, func(t *testing.T) {
			a, rest, err := event.ParsePrefix(row.in)
			if err != nil || a.String() != row.accessor || rest != row.rest {
				t.Errorf("got %v, %q, %v", a, rest, err)
			}
		})
	}
}

func TestParseKeyTakesPlainKeysAndAccessors(t *testing.T) {
	rows := []struct {
		in   string
		want any
	}{
		{"log", "hello"}, {"$log", "hello"}, {"a.b", "dots"}, {"it's", "a quote"}, {"$kubernetes['labels']['app']", "x"},
	}
	e := only(t, Event(At(1, 0), Map{}, record))
	for _, row := range rows {
		t.Run(row.in, func(t *testing.T) {
			a, err := event.ParseKey(row.in)
			if err != nil {
				t.Fatal(err)
			}
			if raw, ok := a.Lookup(e); !ok || !bytes.Equal(raw, Pack(row.want)) {
				t.Errorf("got %x, %v", raw, ok)
			}
			again, err := event.ParseAccessor(a.String())
			if err != nil {
				t.Fatalf("%s doesn't read back: %v", a, err)
			}
			k1, ok1 := a.Key()
			k2, ok2 := again.Key()
			if k1 != k2 || ok1 != ok2 {
				t.Errorf("%s reads back as the key %q", a, k2)
			}
		})
	}
	for _, bad := range []string{"", "$a.b"} {
		if _, err := event.ParseKey(bad); !errors.Is(err, event.ErrAccessor) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestLookupInMetadataAndGroups(t *testing.T) {
	events, _ := Read(OTLP(1, 1))
	severity, err := event.ParseAccessor("$otlp['severity_text']")
	if err != nil {
		t.Fatal(err)
	}
	if raw, ok := severity.LookupIn(events[0].Meta); !ok || !bytes.Equal(raw, Pack("INFO")) {
		t.Errorf("metadata: %x", raw)
	}
	service, err := event.ParseAccessor("$resource['attributes']['service.name']")
	if err != nil {
		t.Fatal(err)
	}
	if raw, ok := service.LookupIn(events[0].Group.Body); !ok || !bytes.Equal(raw, Pack("service-0")) {
		t.Errorf("group: %x", raw)
	}
}

// The last of equal keys counts whatever the map holds.
func TestLookupFindsTheLastOfEqualKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Maps(1).Draw(t, "map")
		key := rapid.SampledFrom([]string{"a", "b", "log", "", "missing"}).Draw(t, "key")
		var want []byte
		for i := 0; i < len(m); i += 2 {
			k := m[i]
			if w, ok := k.(Wide); ok {
				k = w.Value
			}
			if b, ok := k.([]byte); ok {
				k = string(b)
			}
			if k == any(key) {
				want = Pack(m[i+1])
			}
		}
		got, ok := event.NewKey(key).LookupIn(Pack(m))
		if ok != (want != nil) || !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	})
}

func TestLookupAllocatesNothing(t *testing.T) {
	events, _ := Read(Kubernetes(1))
	a, err := event.ParseAccessor("$kubernetes['labels']['tier']")
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() { buf, _ = a.AppendText(buf[:0], events[0], "") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if string(buf) != "backend" {
		t.Errorf("found %q", buf)
	}
}

func FuzzAccessor(f *testing.F) {
	for _, s := range []string{"$a", "$a['b'][0]", "$TAG[1]", `$["x""y"]`, "$['''']"} {
		f.Add(s, Pack(record))
	}
	f.Fuzz(func(t *testing.T, s string, m []byte) {
		a, rest, err := event.ParsePrefix(s)
		if err != nil {
			return
		}
		if a.String()+rest != s {
			t.Errorf("%q became %q and %q", s, a, rest)
		}
		if raw, ok := a.LookupIn(m); ok && event.KindOf(raw) == event.KindInvalid {
			t.Errorf("%q found %x, which is no value", s, raw)
		}
	})
}

// only returns the one event that the object is.
func only(t *testing.T, object any) *event.Event {
	t.Helper()
	events, rest := Read(Pack(object))
	if len(events) != 1 || rest != nil {
		t.Fatalf("%d events, rest %v", len(events), rest)
	}
	return events[0]
}

func BenchmarkLookup(b *testing.B) {
	events, _ := Read(Kubernetes(1))
	for _, s := range []string{"$stream", "$kubernetes['namespace_name']"} {
		b.Run(s, func(b *testing.B) {
			a, err := event.ParseAccessor(s)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := a.Lookup(events[0]); !ok {
					b.Fatal("not found")
				}
			}
		})
	}
}
