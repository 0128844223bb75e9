package event_test

import (
	"math"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"
)

const allText = event.DateTimeText | event.CompactText | event.SurroundingBlanks | event.LowerCase |
	event.MinutesText | event.LeapSecond | event.ShortOffset | event.ShortHour | event.WideOffset

func berlin(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// TestTimeForms: a value is a time with the forms that it needs, and none
// without any one of them.
func TestTimeForms(t *testing.T) {
	const iso = event.DateTimeText
	noon := At(1795953600, 0)
	for _, row := range []struct {
		name   string
		value  any
		needs  event.TimeForms
		want   event.Time
		offset int
	}{
		{"EventTime", EventTime(1795953600, 7), 0, At(1795953600, 7), 0},
		{"float seconds before 1970", -0.25, event.FloatSeconds, At(-1, 750000000), 0},
		{"float just before 1970", -math.SmallestNonzeroFloat64, event.FloatSeconds, At(-1, 999999999), 0},
		{"float milliseconds", 1795953600500.0, event.NumbersBySize, At(1795953600, 500000000), 0},
		{"integer seconds", 1795953600, event.NumbersBySize, noon, 0},
		{"digits", "1795953600123.5", event.NumbersBySize, At(1795953600, 123500000), 0},
		{"bin", []byte("2026-11-29T12:00:00Z"), event.BinText | iso, noon, 0},
		{"date and time with offset", "2026-11-29T13:00:00+01:00", iso, noon, 3600},
		{"offset without colon, comma", "2026-11-29 07:00:00,25-0500", iso, At(1795953600, 250000000), -18000},
		{"no offset in winter", "2026-11-29T13:00:00", iso, noon, 3600},
		{"no offset in summer", "2026-07-01T14:00:00", iso, At(1782907200, 0), 7200},
		{"date alone", "2026-11-29", iso, At(1795906800, 0), 3600},
		{"time of day", "12:00:00.5", event.ClockText, At(43200, 500000000), 0},
		{"no separators", "20261129T120000Z", iso | event.CompactText, noon, 0},
		{"digits alone are a date", "20261129130000", event.CompactText, noon, 3600},
		{"blanks around", " 2026-11-29T12:00:00Z\r\n", iso | event.SurroundingBlanks, noon, 0},
		{"lower case", "2026-11-29t12:00:00z", iso | event.LowerCase, noon, 0},
		{"minutes", "2026-11-29T12:00Z", iso | event.MinutesText, noon, 0},
		{"leap second", "2016-12-31T23:59:60Z", iso | event.LeapSecond, At(1483228800, 0), 0},
		{"offset of hours", "2026-11-29T13:00:00+01", iso | event.ShortOffset, noon, 3600},
		{"blank before the offset", "2026-11-29T13:00:00 +01:00", iso | event.ShortOffset, noon, 3600},
		{"hour of one digit", "2026-11-29T9:00:00Z", iso | event.ShortHour, At(1795942800, 0), 0},
		{"hour padded with blanks", "2026-11-29  9:00:00Z", iso | event.ShortHour, At(1795942800, 0), 0},
		{"offset of a day", "2026-11-30T12:00:00+24:00", iso | event.WideOffset, noon, 86400},
	} {
		t.Run(row.name, func(t *testing.T) {
			reader := event.TimeReader{Accept: row.needs, Zone: berlin(t), Longest: 40}
			raw := Pack(row.value)
			got, offset, ok := reader.Read(raw)
			if !ok || got != row.want || offset != row.offset {
				t.Errorf("got %+v %d %v, want %+v %d", got, offset, ok, row.want, row.offset)
			}
			if n := testing.AllocsPerRun(10, func() { reader.Read(raw) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
			for bit := event.TimeForms(1); bit <= event.WideOffset; bit <<= 1 {
				if row.needs&bit == 0 {
					continue
				}
				reader.Accept = row.needs &^ bit
				if got, _, ok := reader.Read(raw); ok || got != (event.Time{}) {
					t.Errorf("%+v %v without form %#x", got, ok, bit)
				}
			}
		})
	}
}

func TestNoTimes(t *testing.T) {
	everything := event.TimeReader{Accept: allText | event.FloatSeconds | event.BinText | event.ClockText, Zone: time.UTC, Longest: 30}
	bySize := everything
	bySize.Accept |= event.NumbersBySize
	for name, value := range map[string]any{
		"nil": nil, "bool": true, "map": Map{}, "NaN": math.NaN(), "infinity": math.Inf(-1), "an age": 1e19, "an age before 1970": -float64(1 << 40),
		"no date": "yesterday", "empty": "", "no such day": "2026-02-29", "no such month": "2026-13-01",
		"hour 24": "2026-02-28T24:00:00Z", "minute 60": "2026-02-28T23:60:00Z", "second 61": "2026-02-28T23:59:61Z",
		"one dash": "2026-1129", "one colon": "2026-11-29T00:0000Z", "dot without fraction": "2026-11-29T00:00:00.Z",
		"text behind": "2026-11-29T00:00:00Z!", "text behind a time of day": "12:00:00x", "offset of a digit": "2026-11-29T00:00:00+1",
		"offset over a day": "2026-11-29T00:00:00+25:00", "longer than Longest": "2026-11-29T12:00:00.12345678901Z",
		"EventTime with a second of nanoseconds": EventTime(5, 1e9),
	} {
		t.Run(name, func(t *testing.T) {
			for _, reader := range []event.TimeReader{everything, bySize} {
				if got, _, ok := reader.Read(Pack(value)); ok || got != (event.Time{}) {
					t.Errorf("%+v %v", got, ok)
				}
			}
		})
	}
}

// TestWrittenTimesAreReadBack writes instants as other programs do.
func TestWrittenTimesAreReadBack(t *testing.T) {
	layouts := []struct {
		layout string
		unit   time.Duration
	}{
		{time.RFC3339Nano, 1}, {time.RFC3339, time.Second}, {"2006-01-02T15:04:05.000Z0700", time.Millisecond},
		{"2006-01-02 15:04:05,000000 -07:00", time.Microsecond}, {"20060102T150405Z07", time.Second},
		{"2006-01-02T15:04Z07:00", time.Minute},
	}
	zones := []*time.Location{time.UTC, berlin(t), time.FixedZone("", -7*3600), time.FixedZone("", 14*3600)}
	reader := event.TimeReader{Accept: allText, Zone: berlin(t), Longest: 46}
	rapid.Check(t, func(rt *rapid.T) {
		l := rapid.SampledFrom(layouts).Draw(rt, "layout")
		zone := rapid.SampledFrom(zones).Draw(rt, "zone")
		want := time.Unix(rapid.Int64Range(2*86400, 253402300799-2*86400).Draw(rt, "sec"), rapid.Int64Range(0, 999999999).Draw(rt, "nsec")).In(zone).Truncate(l.unit)
		text := want.Format(l.layout)
		got, offset, ok := reader.ReadText(text)
		if _, ahead := want.Zone(); !ok || !got.Std().Equal(want) || offset != ahead {
			rt.Fatalf("%q was read as %v %d %v, want %v", text, got.Std(), offset, ok, want)
		}
	})
}

// TestTimestampsAreReadBack goes through the instants that an event can have.
func TestTimestampsAreReadBack(t *testing.T) {
	if raw := event.AppendTimestamp([]byte("x"), event.Time{}); string(raw) != "x\xc0" {
		t.Errorf("no time is %x", raw)
	}
	rapid.Check(t, func(rt *rapid.T) {
		want := At(rapid.Int64Range(-62167219200, 253402300799).Draw(rt, "sec"), rapid.Uint32Range(0, 999999999).Draw(rt, "nsec"))
		raw := event.AppendTimestamp(nil, want)
		if got, ok := event.Timestamp(raw); !ok || got != want {
			rt.Fatalf("%x is %+v %v, want %+v", raw, got, ok, want)
		}
	})
}

// FuzzTime: any value with any forms is read within bounds or refused, and the
// same from bytes and from a string.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{"2026-11-29T12:00:00.5+01:00", "1795953600.25", "20261129130000", "12:00:00", "2026-11-29  9:00:00Z"} {
		f.Add(msgp.AppendString(nil, seed), uint32(math.MaxUint32))
	}
	for _, seed := range [][]byte{{0xd6, 0xff, 1, 2, 3, 4}, msgp.AppendFloat64(nil, 1e18), {0xd9}, {}} {
		f.Add(seed, uint32(event.NumbersBySize))
	}
	loc := berlin(f)
	f.Fuzz(func(t *testing.T, raw []byte, accept uint32) {
		reader := event.TimeReader{Accept: event.TimeForms(accept), Zone: loc, Longest: 46}
		got, offset, ok := reader.Read(raw)
		if ok != got.Set || got.Nsec > 999999999 || got.Sec <= -1<<40 || got.Sec >= 1<<40 || !ok && got != (event.Time{}) {
			t.Errorf("%x is %+v %v", raw, got, ok)
		}
		if text, isText := event.Text(raw); isText && event.KindOf(raw) == event.KindString {
			if same, o, ok2 := reader.ReadText(string(text)); same != got || o != offset || ok2 != ok {
				t.Errorf("%q reads differently as a value and as a string", text)
			}
		}
	})
}
