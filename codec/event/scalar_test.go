package event_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

func TestScalarsAsText(t *testing.T) {
	rows := []struct {
		name  string
		value any
		want  string
		kind  event.Kind
	}{
		{"nil", nil, "null", event.KindNil},
		{"true", true, "true", event.KindBool},
		{"false", false, "false", event.KindBool},
		{"small", 7, "7", event.KindInt},
		{"negative", -7, "-7", event.KindInt},
		{"smallest", int64(math.MinInt64), "-9223372036854775808", event.KindInt},
		{"above 2^53", int64(1<<53 + 1), "9007199254740993", event.KindInt},
		{"uint64 that an int64 holds", Raw{0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "9223372036854775807", event.KindInt},
		{"largest", uint64(math.MaxUint64), "18446744073709551615", event.KindUint},
		{"float", 0.1, "0.1", event.KindFloat64},
		{"float32", float32(0.1), "0.1", event.KindFloat32},
		{"whole float", 5.0, "5.0", event.KindFloat64},
		{"large whole float", 1e15, "1000000000000000.0", event.KindFloat64},
		{"larger float", 1e21, "1e+21", event.KindFloat64},
		{"tiny float", 1e-7, "1e-07", event.KindFloat64},
		{"minus zero", math.Copysign(0, -1), "-0.0", event.KindFloat64},
		{"NaN", math.NaN(), "NaN", event.KindFloat64},
		{"infinity", math.Inf(1), "Infinity", event.KindFloat64},
		{"minus infinity", float32(math.Inf(-1)), "-Infinity", event.KindFloat32},
		{"string", "中文 \"x\"\n", "中文 \"x\"\n", event.KindString},
		{"empty string", "", "", event.KindString},
		{"invalid UTF-8", "a\xffb\xe4\xb8", "a\uFFFDb\uFFFD\uFFFD", event.KindString},
		{"bin", []byte{0xff, 0}, "data:;base64,/wA=", event.KindBin},
		{"bin that is text", []byte("中\n"), "中\n", event.KindBin},
		{"bin that begins like the mark", []byte("data:;base64,"), "data:;base64,ZGF0YTo7YmFzZTY0LA==", event.KindBin},
		{"string that begins like the mark", "data:;base64,x", "data:;base64,ZGF0YTo7YmFzZTY0LHg=", event.KindString},
		{"string that is shorter than the mark", "data:;base64", "data:;base64", event.KindString},
		{"empty bin", []byte{}, "", event.KindBin},
		{"ext", Ext{Type: 5, Data: []byte("ab")}, "data:;base64,YWI=", event.KindExt},
		{"array", []any{1}, "", event.KindArray},
		{"map", Map{"a", 1}, "", event.KindMap},
		{"no value", Raw{}, "", event.KindInvalid},
		{"0xc1", Raw{0xc1}, "", event.KindInvalid},
		{"cut string", Raw{0xa2, 'a'}, "", event.KindInvalid},
		{"cut integer", Raw{0xcd, 1}, "", event.KindInvalid},
		{"cut length", Raw{0xdb, 1}, "", event.KindInvalid},
		{"cut ext", Raw{0xd4, 1}, "", event.KindInvalid},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			raw := Pack(row.value)
			got, kind := event.AppendScalar([]byte("x"), raw)
			if string(got) != "x"+row.want || kind != row.kind {
				t.Errorf("got %q, %v; want %q, %v", got, kind, row.want, row.kind)
			}
			if event.KindOf(raw) != row.kind {
				t.Errorf("KindOf says %v", event.KindOf(raw))
			}
		})
	}
}

func TestFloatsReadBackTheSame(t *testing.T) {
	check := func(t *rapid.T, f float64, bits int) {
		s := event.AppendFloat(nil, f, bits)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		if got, err := strconv.ParseFloat(string(s), bits); err != nil || math.Float64bits(got) != math.Float64bits(f) {
			t.Fatalf("%v became %s and then %v, %v", f, s, got, err)
		}
		if !json.Valid(s) || !bytes.ContainsAny(s, ".e") {
			t.Fatalf("%s is no JSON number that reads as a float", s)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, math.Float64frombits(rapid.Uint64().Draw(t, "bits")), 64)
		check(t, rapid.Float64().Draw(t, "float"), 64)
		check(t, float64(rapid.Int64().Draw(t, "whole")), 64)
		check(t, float64(math.Float32frombits(rapid.Uint32().Draw(t, "bits32"))), 32)
	})
}

// The typed readers and the walks agree with the plain decoder on any value.
func TestWalkingRebuildsAnyValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := Pack(Values(3).Draw(t, "value"))
		want, n, _, err := Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := event.Span(append(bytes.Clone(raw), 1, 2)); !ok || got != n {
			t.Fatalf("spans %d, want %d", got, n)
		}
		if got := rebuild(t, raw); !bytes.Equal(Pack(got), Pack(want)) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func rebuild(t *rapid.T, raw []byte) any {
	switch event.KindOf(raw) {
	case event.KindNil:
		return nil
	case event.KindBool:
		v, _ := event.Bool(raw)
		return v
	case event.KindInt:
		v, _ := event.Int(raw)
		if u, ok := event.Uint(raw); ok != (v >= 0) || ok && u != uint64(v) {
			t.Fatalf("%d as unsigned is %d, %v", v, u, ok)
		}
		return v
	case event.KindUint:
		v, _ := event.Uint(raw)
		if _, ok := event.Int(raw); ok {
			t.Fatalf("%d passed for an int64", v)
		}
		return v
	case event.KindFloat32:
		v, _ := event.Float(raw)
		return float32(v)
	case event.KindFloat64:
		v, _ := event.Float(raw)
		return v
	case event.KindString:
		s, _ := event.Text(raw)
		return string(s)
	case event.KindBin:
		s, _ := event.Text(raw)
		return s
	case event.KindExt:
		typ, data, _ := event.Ext(raw)
		return Ext{Type: typ, Data: data}
	case event.KindArray:
		list := []any{}
		for l := event.ElementsOf(raw); l.Next(); {
			list = append(list, rebuild(t, l.Value))
		}
		return list
	case event.KindMap:
		m := Map{}
		for f := event.FieldsOf(raw); f.Next(); {
			m = append(m, rebuild(t, f.Key), rebuild(t, f.Value))
		}
		return m
	}
	t.Fatalf("%x is no value", raw)
	return nil
}

func TestTypedReadersRefuseOtherKinds(t *testing.T) {
	values := map[event.Kind]any{
		event.KindNil: nil, event.KindBool: true, event.KindInt: 1, event.KindUint: uint64(1 << 63),
		event.KindFloat32: float32(1), event.KindFloat64: 1.0, event.KindString: "a", event.KindBin: []byte("a"),
		event.KindExt: Ext{Type: 1, Data: []byte("a")}, event.KindArray: []any{1}, event.KindMap: Map{1, 1},
		event.KindInvalid: Raw{},
	}
	readers := []struct {
		name string
		read func(raw []byte) bool
		of   []event.Kind
	}{
		{"Bool", func(b []byte) bool { _, ok := event.Bool(b); return ok }, []event.Kind{event.KindBool}},
		{"Int", func(b []byte) bool { _, ok := event.Int(b); return ok }, []event.Kind{event.KindInt}},
		{"Uint", func(b []byte) bool { _, ok := event.Uint(b); return ok }, []event.Kind{event.KindInt, event.KindUint}},
		{"Float", func(b []byte) bool { _, ok := event.Float(b); return ok }, []event.Kind{event.KindFloat32, event.KindFloat64}},
		{"Text", func(b []byte) bool { _, ok := event.Text(b); return ok }, []event.Kind{event.KindString, event.KindBin}},
		{"Ext", func(b []byte) bool { _, _, ok := event.Ext(b); return ok }, []event.Kind{event.KindExt}},
		{"FieldsOf", func(b []byte) bool { f := event.FieldsOf(b); return f.Next() }, []event.Kind{event.KindMap}},
		{"ElementsOf", func(b []byte) bool { l := event.ElementsOf(b); return l.Next() }, []event.Kind{event.KindArray}},
	}
	for _, r := range readers {
		t.Run(r.name, func(t *testing.T) {
			for kind, v := range values {
				want := false
				for _, k := range r.of {
					want = want || k == kind
				}
				if got := r.read(Pack(v)); got != want {
					t.Errorf("%v: %v", kind, got)
				}
			}
		})
	}
}

func TestWalksEndWhereAMapOrArrayIsCut(t *testing.T) {
	m, l := Pack(Map{"a", 1, "b", 2}), Pack([]any{1, "b"})
	pairs := 0
	f := event.FieldsOf(m[:len(m)-1])
	for f.Next() {
		pairs++
	}
	elements := 0
	e := event.ElementsOf(l[:len(l)-1])
	for e.Next() {
		elements++
	}
	if pairs != 1 || elements != 1 || f.Left() != 0 || e.Left() != 0 {
		t.Errorf("%d pairs, %d elements, %d and %d left", pairs, elements, f.Left(), e.Left())
	}
}

// TestFloatsAreAsStrconvHasThem compares decimals of few and of many digits, and
// their neighbours, with the shortest text by strconv.
func TestFloatsAreAsStrconvHasThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.Int64Range(0, 1e16).Draw(t, "digits") / int64(math.Pow10(rapid.IntRange(0, 15).Draw(t, "fewer")))
		f := float64(digits) / math.Pow10(rapid.IntRange(0, 9).Draw(t, "places"))
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			f = math.Nextafter(f, math.Inf(1))
		case 1:
			f = -f
		}
		if abs := math.Abs(f); abs != 0 && abs < 1e-6 {
			t.Skip("has an exponent")
		}
		want := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(want, ".") {
			want += ".0"
		}
		if got := string(event.AppendFloat(nil, f, 64)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}
