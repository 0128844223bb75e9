package timepattern

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestMemoAgreesWithItsPattern mixes instants in any order around transitions
// of the zone.
func TestMemoAgreesWithItsPattern(t *testing.T) {
	patterns := []string{"yyyy-MM-dd--HH", "yyyyMMdd", "HHmm", "HHmmss xx", "SSS", "yyyy", "%G-W%V-%u", "%s", "%Z %I %p", "'x'"}
	zones := []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Monrovia"}
	rapid.Check(t, func(rt *rapid.T) {
		p, err := Parse(rapid.SampledFrom(patterns).Draw(rt, "pattern"))
		if err != nil {
			rt.Fatal(err)
		}
		loc := zone(t, rapid.SampledFrom(zones).Draw(rt, "zone"))
		memo := NewMemo(p, loc)
		base := rapid.Int64Range(86400, 253402300799).Draw(rt, "base")
		if _, end := time.Unix(base, 0).In(loc).ZoneBounds(); !end.IsZero() && rapid.Bool().Draw(rt, "at a transition") {
			base = end.Unix()
		}
		for range 50 {
			sec := base + rapid.Int64Range(-90000, 90000).Draw(rt, "sec")
			nsec := rapid.Uint32Range(0, 999999999).Draw(rt, "nsec")
			want := string(p.Append(nil, time.Unix(sec, int64(nsec)).In(loc)))
			if got := memo.Format(sec, nsec); got != want {
				rt.Fatalf("%q at %d in %v is %q, want %q", p, sec, loc, got, want)
			}
		}
	})
}

func TestMemoAllocatesNothingForASpanSeenBefore(t *testing.T) {
	for _, pattern := range []string{"yyyy-MM-dd--HH", "yyyyMMdd-HHmmss.SSS", "%Y/%m/%d"} {
		t.Run(pattern, func(t *testing.T) {
			p, err := Parse(pattern)
			if err != nil {
				t.Fatal(err)
			}
			memo := NewMemo(p, zone(t, "Europe/Berlin"))
			n := int64(0)
			use := func() {
				for i := range int64(8) { // eight buckets in turn
					memo.Format(1774746000+3600*i+n%60, 5000000)
				}
			}
			use()
			if a := testing.AllocsPerRun(200, use); a != 0 {
				t.Errorf("%v allocations", a)
			}
		})
	}
}

func TestSpanEndsAtATransition(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	for _, tc := range []struct {
		name, pattern string
		sec           int64
		from, to      int64
	}{
		{"the day's clock goes forward: first half", "yyyy-MM-dd", 1774745999, 1774738800, 1774746000},
		{"second half", "yyyy-MM-dd", 1774746000, 1774746000, 1774821600},
		{"a leap year's last day beyond the zone's table", "yyyy-MM-dd", 2240607600 - 43200, 2240521200, 2240607600},
		{"an hour", "HH", 1774745999, 1774742400, 1774746000},
		{"a day is the longest span", "yyyy", 1795953600, 1795906800, 1795993200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Parse(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			from, to, ok := p.Span(time.Unix(tc.sec, 0).In(berlin))
			if !ok || from != tc.from || to != tc.to {
				t.Errorf("span %d–%d %v, want %d–%d", from, to, ok, tc.from, tc.to)
			}
		})
	}
}

func BenchmarkMemo(b *testing.B) {
	for _, pattern := range []string{"yyyy-MM-dd--HH", "HHmmss", "SSS"} {
		b.Run(pattern, func(b *testing.B) {
			p, err := Parse(pattern)
			if err != nil {
				b.Fatal(err)
			}
			memo := NewMemo(p, zone(b, "Europe/Berlin"))
			b.ReportAllocs()
			sec := int64(1774746000)
			for b.Loop() {
				memo.Format(sec, 5000000)
				sec = sec&^1023 | (sec+1)&1023
			}
		})
	}
}
