package journal

import (
	"bytes"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimesSurvive(t *testing.T) {
	for name, want := range map[string]time.Time{
		"zero":                   {},
		"the epoch":              time.Unix(0, 0),
		"a nanosecond before it": time.Unix(0, -1),
		"now":                    time.Unix(1_753_000_000, 999_999_999),
		"HDFS's milliseconds":    time.UnixMilli(1_753_000_000_123),
		"beyond what an int64 of nanoseconds holds": time.Unix(1<<40, 7),
		"in a zone": time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600)),
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{b: putTime(nil, want)}
			got := r.time()
			if err := r.end(); err != nil || !got.Equal(want) || got.IsZero() != want.IsZero() {
				t.Errorf("%v became %v: %v", want, got, err)
			}
		})
	}
}

// TestOneEncoding: what isn't the shortest encoding of a value is malformed,
// so that what is decoded encodes to the same bytes.
func TestOneEncoding(t *testing.T) {
	for name, row := range map[string]struct {
		b    []byte
		read func(r *reader)
	}{
		"a long zero":               {[]byte{0x80, 0}, func(r *reader) { r.uint() }},
		"a long one":                {[]byte{0x81, 0x80, 0}, func(r *reader) { r.uint() }},
		"a long signed":             {[]byte{0x82, 0}, func(r *reader) { r.int() }},
		"more than 64 bits":         {bytes.Repeat([]byte{0xff}, 11), func(r *reader) { r.uint() }},
		"an end too early":          {[]byte{0x80}, func(r *reader) { r.uint() }},
		"nothing":                   {nil, func(r *reader) { r.uint() }},
		"more than 32 bits":         {putUint(nil, math.MaxUint32+1), func(r *reader) { r.uint32() }},
		"more than 8 bits":          {putUint(nil, math.MaxUint8+1), func(r *reader) { r.uint8() }},
		"a string beyond the end":   {[]byte{5, 'a'}, func(r *reader) { r.bytes() }},
		"a huge string":             {putUint(nil, math.MaxUint64), func(r *reader) { r.bytes() }},
		"a count beyond the end":    {[]byte{9, 1, 2}, func(r *reader) { r.count(1) }},
		"a key cut short":           {make([]byte, 15), func(r *reader) { r.key() }},
		"nanoseconds of a second":   {putUint(putInt(nil, 1), 1e9), func(r *reader) { r.time() }},
		"a rest":                    {[]byte{1, 2}, func(r *reader) { r.uint() }},
		"a bitmap with a loose end": {[]byte{2, 1, 0}, func(r *reader) { r.coverage() }},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reader{b: row.b}
			row.read(r)
			if r.end() == nil {
				t.Error("no error")
			}
			if r.uint() != 0 || r.int() != 0 || r.bytes() != nil || !r.time().IsZero() || r.key() != (originKey{}) {
				t.Error("a failed reader answers something")
			}
		})
	}
}

// ordinals draws a set of record ordinals, in runs.
func ordinals(t *rapid.T) (set []uint32) {
	at := uint32(0)
	for range rapid.IntRange(0, 12).Draw(t, "runs") {
		at += rapid.Uint32Range(0, 200).Draw(t, "gap")
		for range rapid.IntRange(1, 150).Draw(t, "length") {
			set = append(set, at)
			at++
		}
	}
	return set
}

func TestRangesAndCoverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[uint32]bool{}
		var all Coverage
		for range rapid.IntRange(1, 4).Draw(t, "shares") {
			set := ordinals(t)
			var r Ranges
			for _, o := range set {
				r.Add(o)
				want[o] = true
			}
			if int(r.Count()) != len(set) {
				t.Fatalf("counted %d of %d", r.Count(), len(set))
			}
			runs := bytes.Clone(r.Bytes())
			if !bytes.Equal(runs, r.Bytes()) {
				t.Fatal("asked twice, it is another set")
			}
			one := CoverageOf(runs)
			if int(one.Count()) != len(set) {
				t.Fatalf("covers %d of %d", one.Count(), len(set))
			}
			if !all.add(runs, math.MaxUint32) {
				t.Fatal("malformed")
			}
		}
		r := &reader{b: all.encode(nil)}
		decoded := r.coverage()
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
		copied := all.clone()
		for name, c := range map[string]*Coverage{"itself": &all, "decoded": &decoded, "copied": &copied} {
			if int(c.Count()) != len(want) {
				t.Fatalf("%s: %d of %d", name, c.Count(), len(want))
			}
			for o := range uint32(5000) {
				if c.Has(o) != want[o] {
					t.Fatalf("%s: has %d: %v", name, o, c.Has(o))
				}
			}
			if c.Has(math.MaxUint32) {
				t.Fatalf("%s: has the last ordinal of all", name)
			}
		}
	})
}

// TestMalformedRuns are taken for nothing as a whole, and allocate nothing.
func TestMalformedRuns(t *testing.T) {
	run := func(gap, n uint64) []byte { return putUint(putUint(nil, gap), n) }
	for name, runs := range map[string][]byte{
		"an empty run":               run(3, 0),
		"a run without a length":     putUint(nil, 3),
		"beyond the limit":           run(90, 11),
		"the second is bad":          append(run(1, 2), run(200, 1)...),
		"an overflow":                append(run(1<<32-1, 1<<32-1), run(1, 1)...),
		"a gap of more than 32 bits": run(1<<33, 1),
	} {
		t.Run(name, func(t *testing.T) {
			var c Coverage
			if c.add(runs, 100) || c.Count() != 0 || c.words != nil {
				t.Errorf("%+v", c)
			}
		})
	}
	var c Coverage
	if !c.add(nil, 0) || !c.add(run(90, 10), 100) || c.Count() != 10 {
		t.Errorf("%+v", c)
	}
}

func TestOrdinalsMustGrow(t *testing.T) {
	for name, add := range map[string]func(r *Ranges){
		"the same again":  func(r *Ranges) { r.Add(5) },
		"a lower one":     func(r *Ranges) { r.Add(2) },
		"after the bytes": func(r *Ranges) { r.Bytes(); r.Add(5) },
	} {
		t.Run(name, func(t *testing.T) {
			var r Ranges
			r.Add(5)
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			add(&r)
		})
	}
}
