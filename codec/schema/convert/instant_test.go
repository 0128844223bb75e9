package convert

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

func berlin(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(eventtest.TimesZone)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func long(l schema.Logical) *schema.Type {
	if l == schema.Date || l == schema.TimeMillis {
		return &schema.Type{Kind: schema.Int, Logical: l}
	}
	return &schema.Type{Kind: schema.Long, Logical: l}
}

func timestamps() []schema.Logical {
	return []schema.Logical{schema.TimestampMillis, schema.TimestampMicros, schema.LocalTimestampMillis, schema.LocalTimestampMicros}
}

// TestEverySpelling: in each column a text, a float and what msgpack has a type
// for are the time that the table of times says. An integer counts the column's
// unit, whatever its digits look like.
func TestEverySpelling(t *testing.T) {
	c := Converter{Rules: schema.Lenient, Zone: berlin(t), Arrival: eventtest.TimesNear()}
	for _, group := range eventtest.Times() {
		for _, row := range group.Rows {
			values := []any{row.Value}
			switch v := row.Value.(type) {
			case string:
				values = append(values, []byte(v))
			case int, uint64:
				values = append(values, fmt.Sprint(v))
			}
			for _, value := range values {
				raw := eventtest.Pack(value)
				t.Run(fmt.Sprintf("%s/%T %q", group.Name[:7], value, value), func(t *testing.T) {
					want := row.Want
					switch n, isInt := event.Int(raw); {
					case isInt:
						want = time.UnixMilli(n).UTC().Format(time.RFC3339Nano)
						if at := time.UnixMilli(n).UTC(); at.Year() > 9999 {
							want = ""
						}
					case event.KindOf(raw) == event.KindFloat32:
						f, _ := event.Float(raw)
						want = time.Unix(int64(f), 0).UTC().Format(time.RFC3339Nano)
					case row.Millis != "" && row.Millis != eventtest.NoTime:
						want = row.Millis
					case row.Millis != "":
						want = ""
					}
					checkTimestamp(t, &c, raw, want)
				})
			}
		}
	}
}

func checkTimestamp(t *testing.T, c *Converter, raw []byte, want string) {
	t.Helper()
	got, ok := c.Long(long(schema.TimestampMillis), raw)
	if want == "" {
		if ok {
			t.Errorf("it is %v, and should be no time", time.UnixMilli(got).UTC())
		}
		return
	}
	at, err := time.Parse(time.RFC3339Nano, want)
	if err != nil {
		t.Fatal(err)
	}
	if !ok || got != at.UnixMilli() {
		t.Errorf("got %v %v, want %s", time.UnixMilli(got).UTC(), ok, want)
	}
	if event.KindOf(raw) == event.KindInt || strings.Contains(string(raw), "e+09") {
		return
	}
	if text, isText := event.Text(raw); isText && digitsOnly(bytes.Trim(text, " +")) {
		return // counts the unit, which differs
	}
	if got, ok := c.Long(long(schema.TimestampMicros), raw); !ok || got != at.UnixMicro() {
		t.Errorf("in microseconds it is %d %v, want %d", got, ok, at.UnixMicro())
	}
	day := at.In(c.Zone)
	wantDay := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400
	if at.Year() > 1 && at.Year() < 9999 && at.Year() >= 1970 {
		if got, ok := c.Long(long(schema.Date), raw); !ok || got != wantDay {
			t.Errorf("its day is %d %v, want %d", got, ok, wantDay)
		}
	}
}

// TestZones: what has no zone is local time of the converter's, also the day of a
// date; what has one keeps it on the clock that a local timestamp shows.
func TestZones(t *testing.T) {
	c := Converter{Rules: schema.Lenient, Zone: berlin(t)}
	instant := eventtest.EventTime(1772663400, 0) // 2026-03-04T22:30:00Z
	for _, row := range []struct {
		logical schema.Logical
		value   any
		want    string
	}{
		{schema.Date, "2026-03-05", "2026-03-05"}, {schema.Date, "2026-03-05T00:30:00", "2026-03-05"},
		{schema.Date, "2026-03-04T23:30:00Z", "2026-03-05"}, {schema.Date, "2026-03-05T00:30:00+02:00", "2026-03-04"},
		{schema.Date, instant, "2026-03-04"}, {schema.Date, eventtest.EventTime(1772667000, 0), "2026-03-05"},
		{schema.Date, "20260305", "2026-03-05"},
		{schema.TimestampMillis, "2026-03-05T00:30:00", "2026-03-04T23:30:00"}, {schema.TimestampMicros, "2026-07-05 00:30", "2026-07-04T22:30:00"},
		{schema.TimestampMillis, instant, "2026-03-04T22:30:00"},
		{schema.LocalTimestampMillis, "2026-03-05T00:30:00", "2026-03-05T00:30:00"},
		{schema.LocalTimestampMicros, "2026-03-05T00:30:00-05:00", "2026-03-05T00:30:00"},
		{schema.LocalTimestampMillis, instant, "2026-03-04T23:30:00"},
		{schema.TimeMillis, "23:30:00.5", "1970-01-01T23:30:00.5"}, {schema.TimeMicros, instant, "1970-01-01T23:30:00"},
		{schema.TimeMillis, 3600.5, "1970-01-01T01:00:00.5"},
	} {
		got, ok := c.Long(long(row.logical), eventtest.Pack(row.value))
		at := time.Unix(0, 0).UTC().Add(time.Duration(got) * row.logical.Unit()).Format("2006-01-02T15:04:05.999")
		if row.logical == schema.Date {
			at = at[:len("2026-03-05")]
		}
		if !ok || at != row.want {
			t.Errorf("%v of %v is %s %v, want %s", row.logical, row.value, at, ok, row.want)
		}
	}
}

// TestRanges: a number beyond what a type's readers take doesn't fit, however it
// comes, and the reason says the value and what it counts.
func TestRanges(t *testing.T) {
	const years, hours = " is outside the years 1 to 9999 of a ", " is no time of day below 24 hours for a "
	for _, row := range []struct {
		logical     schema.Logical
		least, most int64
		unit, why   string
	}{
		{schema.Date, -719162, 2932896, " days", years},
		{schema.TimeMillis, 0, 86399999, " milliseconds", hours},
		{schema.TimeMicros, 0, 86399999999, " microseconds", hours},
		{schema.TimestampMillis, -62135596800000, 253402300799999, " milliseconds", years},
		{schema.TimestampMicros, -62135596800000000, 253402300799999999, " microseconds", years},
		{schema.LocalTimestampMillis, -62135596800000, 253402300799999, " milliseconds", years},
		{schema.LocalTimestampMicros, -62135596800000000, 253402300799999999, " microseconds", years},
	} {
		typ := long(row.logical)
		for _, rules := range []schema.Rules{schema.Lenient, schema.Strict, schema.Learned} {
			c := Converter{Rules: rules, Zone: berlin(t)}
			for v, fits := range map[int64]bool{row.least: true, row.most: true, row.least - 1: false, row.most + 1: false, 1 << 62: false, -1 << 62: false} {
				raw := eventtest.Pack(v)
				if got, ok := c.Long(typ, raw); ok != fits || ok && got != v {
					t.Errorf("%v: %d is %d %v", row.logical, v, got, ok)
				}
				if want := fmt.Sprint(v, row.unit, row.why, row.logical); !fits && Reason(typ, raw) != strings.Replace(want, " "+row.unit, row.unit, 1) {
					t.Errorf("%v: the reason is %q, want %q", row.logical, Reason(typ, raw), want)
				}
			}
		}
		c := Converter{Rules: schema.Lenient}
		for _, raw := range [][]byte{
			eventtest.Pack(1e13), eventtest.Pack(-1e13), eventtest.Pack(uint64(1) << 63), eventtest.Pack("99999999999999999999"),
			eventtest.Pack("10000-01-01T00:00:00Z"), eventtest.Pack("0000-12-31"), eventtest.Pack("24:00:00"), eventtest.Pack("23:59:60"), eventtest.Pack(86400.5 * 1e9),
			eventtest.Pack(eventtest.Ext{Type: -1, Data: []byte{0, 0, 0, 0, 0, 0, 0, 0x3b, 0xff, 0xf4, 0x41, 0x80}}), // 253402300800 s
		} {
			if got, ok := c.Long(typ, raw); ok {
				t.Errorf("%v: %x is %d", row.logical, raw, got)
			}
		}
	}
	for value, want := range map[any]string{
		1e13:               "10000000000000.0 seconds" + years + "timestamp-millis",
		"9999999999999999": "9999999999999999 milliseconds" + years + "timestamp-millis",
		"soon":             `a string "soon" doesn't fit a timestamp-millis`,
	} {
		if got := Reason(long(schema.TimestampMillis), eventtest.Pack(value)); got != want {
			t.Errorf("%v: %s", value, got)
		}
	}
}

// TestAnyNumberIsInRange: whatever comes in, what goes into a column is in its
// range.
func TestAnyNumberIsInRange(t *testing.T) {
	logicals := append(timestamps(), schema.Date, schema.TimeMillis, schema.TimeMicros)
	zone := berlin(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := Converter{
			Rules: rapid.SampledFrom([]schema.Rules{schema.Lenient, schema.Strict, schema.Learned}).Draw(rt, "rules"),
			Zone:  zone, Arrival: rapid.Int64Range(event.MinSec, event.MaxSec).Draw(rt, "arrival"),
		}
		typ := long(rapid.SampledFrom(logicals).Draw(rt, "type"))
		value := rapid.OneOf(
			rapid.Map(rapid.Int64(), func(v int64) any { return v }), rapid.Map(rapid.Float64(), func(v float64) any { return v }),
			rapid.Map(rapid.Int64(), func(v int64) any { return fmt.Sprint(v) }), eventtest.Values(0),
			rapid.Map(rapid.Int64Range(event.MinSec-1e6, event.MaxSec+1e6), func(v int64) any { return time.Unix(v, 0).UTC().Format(time.RFC3339) }),
		).Draw(rt, "value")
		got, ok := c.Long(typ, eventtest.Pack(value))
		if least, most := typ.Logical.Range(); ok && (got < least || got > most) {
			rt.Fatalf("%v of %v is %d", typ.Logical, value, got)
		}
	})
}

// goReads is what package time makes of a text for a type.
func goReads(l schema.Logical, text string) (at time.Time, ok bool) {
	if len(text) < len("15:04:05") {
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
// forms, mostly whole ones, and changes some of their bytes. What package time
// reads is read the same, but for offsets of more than a day and the year 0,
// which it takes.
func TestTextsAreReadAsPackageTimeReadsThem(t *testing.T) {
	pieces := [][]string{
		{"2026-11-29", "2028-02-29", "2026-02-29", "0000-01-01", "9999-12-30", "20261129", "2026-1-2", ""},
		{"T", " ", "  ", "t", ""},
		{"12:00:00", "9:03:12", "23:59:60", "24:00:00", "00:60:00", "120000", "12:00", ""},
		{"", ".5", ",25", ".123456789", ".1234567890123", "."},
		{"", "Z", "z", "+01:00", "-0730", "+01", " +01:00", "-25:00", "+00:61"},
	}
	logicals := append(timestamps(), schema.Date, schema.TimeMillis, schema.TimeMicros)
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
		got, ok := c.Long(long(l), msgp.AppendString(nil, string(text)))
		at, read := goReads(l, string(text))
		_, offset := at.Zone()
		if !read || offset >= 86400 || offset <= -86400 || strings.HasSuffix(string(text), ":60") || strings.HasSuffix(string(text), "60") || l != schema.TimeMillis && l != schema.TimeMicros && at.UTC().Year() < 1 {
			return
		}
		if !ok {
			rt.Fatalf("%v %q isn't read, and is %v", l, text, at)
		}
		if l == schema.LocalTimestampMillis || l == schema.LocalTimestampMicros {
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
