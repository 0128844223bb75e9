package conf

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSizes(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int64 // -1 is refused
	}{
		{"0", 0}, {"1", 1}, {"512", 512}, {"512b", 512}, {"1K", 1000}, {"1k", 1000}, {"2KB", 2000}, {"1KiB", 1024}, {"1ki", 1024},
		{"128M", 128e6}, {"128MB", 128e6}, {"128MiB", 128 << 20}, {"10G", 10e9}, {"3gib", 3 << 30}, {"10 G", 10e9},
		{"9223372036854775807", math.MaxInt64}, {"9223372036854775808", -1}, {"9223372037G", -1}, {"8589934592GiB", -1},
		{"", -1}, {"M", -1}, {"-1", -1}, {"+1", -1}, {"1.5G", -1}, {"1T", -1}, {"1MM", -1}, {"0x10", -1}, {"1e6", -1}, {"G1", -1}, {"٣", -1},
	} {
		t.Run(tc.text, func(t *testing.T) {
			got, err := parseSize(tc.text)
			if (err != nil) != (tc.want < 0) || err == nil && got != tc.want {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for _, tc := range []struct {
		text string
		want time.Duration // -1 is refused
	}{
		{"0", 0}, {"0s", 0}, {"90", 90 * time.Second}, {"90s", 90 * time.Second}, {"500ms", 500 * time.Millisecond}, {"15m", 15 * time.Minute},
		{"1H", time.Hour}, {"2d", 48 * time.Hour}, {"1h30m", 90 * time.Minute}, {"1d2h3m4s5ms", 26*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond},
		{"1h 30m", 90 * time.Minute}, {"15 m", 15 * time.Minute}, {"106751d", 106751 * 24 * time.Hour},
		{"", -1}, {"m", -1}, {"-1s", -1}, {"+1s", -1}, {"1.5h", -1}, {"1w", -1}, {"1us", -1}, {"30m1h", -1}, {"1m1m", -1}, {"1h30", -1}, {"1 2", -1},
		{"106752d", -1}, {"99999999999999999999", -1}, {"106751d24h", -1}, {"9223372037s", -1},
	} {
		t.Run(tc.text, func(t *testing.T) {
			got, err := parseDuration(tc.text, time.Second)
			if (err != nil) != (tc.want < 0) || err == nil && got != tc.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestABareNumberCountsWhatItIsSaidTo(t *testing.T) {
	if got, err := parseDuration("250", time.Millisecond); err != nil || got != 250*time.Millisecond {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFormattedValuesAreReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		unit := rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9, 1 << 10, 1 << 20, 1 << 30}).Draw(rt, "unit")
		size := rapid.Int64Range(0, math.MaxInt64/unit).Draw(rt, "size") * unit
		if got, err := parseSize(formatSize(size)); err != nil || got != size {
			rt.Errorf("%d is written %s and read %d, %v", size, formatSize(size), got, err)
		}
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64/int64(time.Millisecond)).Draw(rt, "ms")) * time.Millisecond
		if got, err := parseDuration(formatDuration(d), time.Second); err != nil || got != d {
			rt.Errorf("%v is written %s and read %v, %v", d, formatDuration(d), got, err)
		}
	})
}

func TestBooleans(t *testing.T) {
	for _, tc := range []struct {
		text  string
		v, ok bool
	}{
		{"on", true, true}, {"True", true, true}, {"YES", true, true}, {"off", false, true}, {"false", false, true}, {"no", false, true},
		{"", false, false}, {"1", false, false}, {"0", false, false}, {"date", false, false},
	} {
		t.Run(tc.text, func(t *testing.T) {
			if v, ok := parseBool(tc.text); v != tc.v || ok != tc.ok {
				t.Errorf("got %v, %v", v, ok)
			}
		})
	}
}
