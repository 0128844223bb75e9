package convert

import (
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"
)

// goReads is what package time makes of a text for a type, with the layouts of
// ISO 8601 that count there.
func goReads(l schema.Logical, text string) (at time.Time, ok bool) {
	if len(text) > longestText || len(text) < len("15:04:05") {
		return at, false
	}
	layouts := []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", time.DateOnly}
	switch {
	case l == schema.TimeMillis || l == schema.TimeMicros:
		layouts = []string{time.TimeOnly}
	case len(text) > 10 && text[10] == ' ':
		layouts = []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", time.DateTime}
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return at, false
}

// TestTextsAreReadAsPackageTimeReadsThem draws texts from pieces of the known
// forms, mostly whole ones, and changes some of their bytes.
func TestTextsAreReadAsPackageTimeReadsThem(t *testing.T) {
	pieces := [][]string{
		{"2026-11-29", "2028-02-29", "2026-02-29", "0000-01-01", "9999-12-31", "20261129", "2026-1-2", ""},
		{"T", " ", "  ", "t", ""},
		{"12:00:00", "9:03:12", "23:59:60", "24:00:00", "00:60:00", "120000", "12:00", ""},
		{"", ".5", ",25", ".123456789", ".1234567890123", "."},
		{"", "Z", "z", "+01:00", "-0730", "+01", " +01:00", "+24:60", "-25:00", "+00:61"},
	}
	logicals := []schema.Logical{schema.Date, schema.TimeMillis, schema.TimeMicros, schema.TimestampMillis,
		schema.TimestampMicros, schema.LocalTimestampMillis, schema.LocalTimestampMicros}
	c := Converter{Rules: schema.Lenient}
	rapid.Check(t, func(rt *rapid.T) {
		var text []byte
		for _, alternatives := range pieces {
			text = append(text, rapid.SampledFrom(alternatives).Draw(rt, "piece")...)
		}
		if len(text) > 0 && rapid.IntRange(0, 4).Draw(rt, "change") == 0 {
			text[rapid.IntRange(0, len(text)-1).Draw(rt, "at")] = rapid.SampledFrom([]byte("0129-:+.,TZ ")).Draw(rt, "byte")
		}
		l := rapid.SampledFrom(logicals).Draw(rt, "type")
		got, ok := c.instant(&schema.Type{Logical: l}, msgp.AppendString(nil, string(text)))
		at, wantOK := goReads(l, string(text))
		if ok != wantOK {
			rt.Fatalf("%v %q: read %v, package time %v", l, text, ok, wantOK)
		}
		if !ok {
			return
		}
		if l == schema.LocalTimestampMillis || l == schema.LocalTimestampMicros {
			_, offset := at.Zone()
			at = at.Add(time.Duration(offset) * time.Second)
		}
		var want int64
		switch l {
		case schema.Date:
			want = (at.Unix() - int64(at.UTC().Hour()*3600+at.UTC().Minute()*60+at.UTC().Second())) / 86400
		case schema.TimeMillis:
			want = at.Sub(at.Truncate(24 * time.Hour)).Milliseconds()
		case schema.TimeMicros:
			want = at.Sub(at.Truncate(24 * time.Hour)).Microseconds()
		case schema.TimestampMillis, schema.LocalTimestampMillis:
			want = at.UnixMilli()
		default:
			want = at.UnixMicro()
		}
		if got != want {
			rt.Fatalf("%v %q is %d, want %d", l, text, got, want)
		}
	})
}
