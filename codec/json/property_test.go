package json_test

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// same demands that a parsed JSON value is what the msgpack value means.
func same(got, want any) error {
	differ := fmt.Errorf("got %v (%T), want %v (%T)", got, got, want, want)
	switch want := want.(type) {
	case nil, bool:
		if got != want {
			return differ
		}
	case int64, uint64:
		if n, ok := got.(stdjson.Number); !ok || n.String() != fmt.Sprint(want) {
			return differ
		}
	case float32:
		return sameFloat(got, float64(want), 32)
	case float64:
		return sameFloat(got, want, 64)
	case string:
		if text, ok := got.(string); !ok || string(unmarked(text)) != repaired(want) && string(unmarked(text)) != want || marked(want) != marked(text) {
			return differ
		}
	case []byte:
		if text, ok := got.(string); !ok || string(unmarked(text)) != string(want) || utf8.Valid(want) && !marked(string(want)) != (text == string(want)) {
			return differ
		}
	case Ext:
		return same(got, Map{"type", int64(want.Type), "data", base64.StdEncoding.EncodeToString(want.Data)})
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return differ
		}
		for i := range list {
			if err := same(list[i], want[i]); err != nil {
				return err
			}
		}
	case Map:
		return sameMap(got, want)
	}
	return nil
}

func sameFloat(got any, want float64, bits int) error {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return same(got, nil)
	}
	n, _ := got.(stdjson.Number)
	f, err := strconv.ParseFloat(n.String(), bits)
	if err != nil || math.Float64bits(f) != math.Float64bits(want) {
		return fmt.Errorf("got %v, want the float %v: %v", got, want, err)
	}
	return nil
}

// sameMap expects the last of equal keys, in the place of that last.
func sameMap(got any, want Map) error {
	m, ok := got.(Map)
	if !ok {
		return fmt.Errorf("got %T instead of a map", got)
	}
	last := map[string]int{}
	for i := 0; i < len(want); i += 2 {
		last[keyText(want[i])] = i
	}
	if len(last) != len(m)/2 {
		return fmt.Errorf("got %d keys, want %d", len(m)/2, len(last))
	}
	for i := 0; i < len(want); i += 2 {
		key := keyText(want[i])
		if last[key] != i {
			continue
		}
		if m[0] != any(key) {
			return fmt.Errorf("got key %q, want %q", m[0], key)
		}
		if err := same(m[1], want[i+1]); err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		m = m[2:]
	}
	return nil
}

func keyText(key any) string {
	switch key := key.(type) {
	case string:
		return repaired(key)
	case []byte:
		return repaired(string(key))
	}
	var a json.Appender
	text, err := a.AppendValue(nil, Pack(key))
	if err != nil {
		panic(err)
	}
	return string(text)
}

func marked(text string) bool { return strings.HasPrefix(text, "data:;base64,") }

// unmarked is what a text was, by the one rule: what is behind the mark is
// base64.
func unmarked(text string) []byte {
	if b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "data:;base64,")); err == nil && marked(text) {
		return b
	}
	return []byte(text)
}

func repaired(s string) string { return string([]rune(s)) }

// parse reads one JSON value, objects as Map with their order and repeats.
func parse(d *stdjson.Decoder) (any, error) {
	t, err := d.Token()
	delim, ok := t.(stdjson.Delim)
	if err != nil || !ok {
		return t, err
	}
	list := []any{}
	for d.More() {
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if delim == '{' {
		return Map(list), nil
	}
	return list, nil
}

func parseOne(text []byte) (any, error) {
	d := stdjson.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parse(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: more than one value", text)
	}
	return v, nil
}

func TestAnyValueReadsBackTheSame(t *testing.T) {
	var a json.Appender
	rapid.Check(t, func(t *rapid.T) {
		raw := Pack(Values(3).Draw(t, "value"))
		want, _, _, err := Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.AppendValue(nil, raw)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(out) || bytes.ContainsAny(out, "\n\r") {
			t.Fatalf("%q isn't valid UTF-8 in one line", out)
		}
		got, err := parseOne(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := same(got, want); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	})
}

// Maps large enough for the table of keys, with repeats, in one another.
func TestLargeMapsKeepTheLastOfEqualKeys(t *testing.T) {
	var a json.Appender
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.IntRange(1, 300).Draw(t, "names")
		name := rapid.IntRange(0, names)
		var large func(depth int) Map
		large = func(depth int) Map {
			m := Map{}
			for i := range rapid.SampledFrom([]int{3, 63, 64, 65, 127, 128, 129, 300}).Draw(t, "pairs") {
				var v any = int64(i)
				if depth > 0 && i%60 == 59 {
					v = large(depth - 1)
				}
				m = append(m, fmt.Sprint("key ", name.Draw(t, "name")), v)
			}
			return m
		}
		m := large(1)
		out, err := a.AppendValue(nil, Pack(m))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseOne(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := same(got, m); err != nil {
			t.Fatal(err)
		}
	})
}

// A map whose keys agree in length and in their first and last bytes takes
// linear time: ten times the keys don't take a hundred times as long.
func TestAMapOfSimilarKeysTakesLinearTime(t *testing.T) {
	var a json.Appender
	took := func(n int) time.Duration {
		m := make(Map, 0, 4*n)
		for i := range n {
			m = append(m, fmt.Sprintf("common beginning %08d common end", i), i)
		}
		raw := Pack(append(m, m...))
		return CPUTime(t, func() {
			out, err := a.AppendValue(nil, raw)
			if got := bytes.Count(out, []byte(":")); err != nil || got != n {
				t.Fatalf("%d keys, want %d, %v", got, n, err)
			}
		})
	}
	if small, large := took(5_000), took(50_000); large > 40*small {
		t.Errorf("5000 keys took %v, 50000 took %v", small, large)
	}
}

func checkLines(chunk []byte) error {
	events, _ := Read(chunk)
	options := json.Options{DateKey: "date", TagKey: "tag", MetadataKey: "meta", GroupKey: "group"}
	out, rejects := json.NewEncoder(options).Encode(nil, &event.Batch{Tag: "t\xff", Events: events})
	if got, want := bytes.Count(out, []byte("\n")), len(events)-len(rejects); got != want {
		return fmt.Errorf("%d lines of %d events, %d of them rejected", got, len(events), len(rejects))
	}
	rejected := map[*event.Event]bool{}
	for _, r := range rejects {
		if r.Event.Malformed == "" {
			return fmt.Errorf("event %d rejected though it was read: %s", r.Event.Ordinal, r.Reason)
		}
		rejected[r.Event] = true
	}
	for _, e := range events {
		if rejected[e] {
			continue
		}
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		out = rest
		if !stdjson.Valid(line) || !utf8.Valid(line) {
			return fmt.Errorf("event %d became %q", e.Ordinal, line)
		}
		body, _, _, err := Decode(e.Body)
		if err != nil {
			return err
		}
		got, err := parseOne(line)
		if err != nil {
			return err
		}
		m, _ := got.(Map)
		for len(m) > 0 && !holds(body.(Map), m[0]) {
			m = m[2:] // date, tag, metadata or group
		}
		if err := sameMap(m, body.(Map)); err != nil {
			return fmt.Errorf("event %d: %w", e.Ordinal, err)
		}
	}
	return nil
}

func holds(m Map, key any) bool {
	for i := 0; i < len(m); i += 2 {
		if any(keyText(m[i])) == key {
			return true
		}
	}
	return false
}

func TestHostileChunksBecomeValidLines(t *testing.T) {
	for _, h := range HostileChunks() {
		t.Run(h.Name, func(t *testing.T) {
			if err := checkLines(h.Chunk); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	for _, h := range HostileChunks() {
		if len(h.Chunk) < 5000 {
			f.Add(h.Chunk)
		}
	}
	f.Add(Kubernetes(1))
	f.Add(OTLP(1, 2))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		Bounded(t, len(chunk), func() {
			if err := checkLines(chunk); err != nil {
				t.Error(err)
			}
		})
	})
}

// Whatever bytes pass for a record, also ones no Reader let through.
func FuzzUncheckedRecord(f *testing.F) {
	f.Add(Pack(Map{"a", 1, "a", []any{"x"}}), []byte{0x81, 1})
	f.Fuzz(func(t *testing.T, body, meta []byte) {
		e := &event.Event{Body: body, Meta: meta, Group: &event.Group{Body: meta}}
		enc := json.NewEncoder(json.Options{MetadataKey: "m", GroupKey: "g"})
		out, reason := enc.AppendLine([]byte("x"), e, "")
		if reason != "" && string(out) != "x" {
			t.Errorf("a reject left %q", out)
		}
		if reason == "" && !stdjson.Valid(out[1:]) {
			t.Errorf("%q isn't valid", out[1:])
		}
	})
}

func TestEncodingAllocatesNothing(t *testing.T) {
	large := Map{}
	for i := range 300 {
		large = append(large, fmt.Sprint("key ", i%250), i)
	}
	rows := []struct {
		name  string
		chunk []byte
	}{
		{"kubernetes", Kubernetes(50)},
		{"plain", Plain(50)},
		{"otlp", OTLP(5, 10)},
		{"floats and escapes", Pack(Event(At(1, 0), Map{}, Map{"f", 1.0 / 3, "s", "a\n\"中\xff", "b", []byte("x"), "e", Ext{Type: 1, Data: []byte("x")}, 7, "k"}))},
		{"repeated keys", Pack(Event(At(1, 0), Map{}, Map{"a", 1, "a", Map{"b", 1, "b", 2}, "date", 1}))},
		{"large maps", Pack(Event(At(1, 0), Map{}, Map{"m", large}))},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			events, _ := Read(row.chunk)
			batch := &event.Batch{Tag: "kube.x", Events: events}
			enc := json.NewEncoder(json.Options{DateKey: "date", TagKey: "tag", MetadataKey: "m", GroupKey: "g"})
			dst := make([]byte, 0, 8*len(row.chunk)+4096)
			n := testing.AllocsPerRun(10, func() { dst, _ = enc.Encode(dst[:0], batch) })
			if n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
