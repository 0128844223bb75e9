package event_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"
)

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func berlin(t testing.TB) *time.Location { return location(t, TimesZone) }

// rfc3339 is the instant of a row's text, unset for "".
func rfc3339(t testing.TB, text string) (at event.Time) {
	t.Helper()
	if text == "" || text == NoTime {
		return at
	}
	v, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return At(v.Unix(), uint32(v.Nanosecond()))
}

// spellings are the values that have the same digits or letters.
func spellings(value any) []any {
	switch v := value.(type) {
	case string:
		return []any{v, []byte(v)}
	case int:
		text := fmt.Sprint(v)
		all := []any{v, Wide{Value: int64(v)}, text, []byte(text)}
		if v > -1<<53 && v < 1<<53 {
			all = append(all, float64(v))
		}
		return all
	case uint64:
		return []any{v, fmt.Sprint(v)}
	case float64:
		if v == math.Trunc(v) || v != v {
			return []any{v}
		}
		text := strconv.FormatFloat(v, 'f', -1, 64)
		return []any{v, text, []byte(text)}
	}
	return []any{value}
}

// TestTimes: each spelling is the time that the table says, whatever type has
// it, and from bytes as from a string.
func TestTimes(t *testing.T) {
	reader := event.TimeReader{Zone: berlin(t)}
	millis := event.TimeReader{Zone: reader.Zone, Unit: time.Millisecond}
	near, rows := TimesNear(), 0
	for _, group := range Times() {
		for _, row := range group.Rows {
			for _, value := range spellings(row.Value) {
				rows++
				t.Run(fmt.Sprintf("%s/%T %q", group.Name[:7], value, value), func(t *testing.T) {
					want, raw := rfc3339(t, row.Want), Pack(value)
					got, _, ok := reader.Read(raw, near)
					if got != want || ok != want.Set {
						t.Errorf("got %v %v, want %v", got.Std(), ok, want.Std())
					}
					if n := testing.AllocsPerRun(10, func() { reader.Read(raw, near) }); n != 0 {
						t.Errorf("%v allocations", n)
					}
					text, isText := event.Text(raw)
					if !isText {
						return
					}
					if got, _, ok := reader.ReadText(string(text), near); got != want || ok != want.Set {
						t.Errorf("as a string it is %v %v", got.Std(), ok)
					}
					if row.Millis != "" {
						want = rfc3339(t, row.Millis)
					}
					if got, _, ok := millis.Read(raw, near); got != want || ok != want.Set {
						t.Errorf("in a column of milliseconds it is %v %v, want %v", got.Std(), ok, want.Std())
					}
				})
			}
		}
	}
	if rows < 150 {
		t.Errorf("only %d spellings", rows)
	}
}

// TestOffsets: a clock's lead on UTC is what the text says, else that of the
// zone at that time.
func TestOffsets(t *testing.T) {
	reader := event.TimeReader{Zone: berlin(t)}
	for _, row := range []struct {
		value  any
		offset int
	}{
		{"2026-03-05T06:07:08-05:00", -18000}, {"2026-03-05T06:07:08Z", 0}, {"2026-03-05T06:07:08", 3600}, {"2026-07-01", 7200},
		{"2026-03-05 06:07:08 CET", 3600}, {"Jul  1 06:07:08", 7200}, {1772690828, 3600}, {1782907200, 7200}, {20260701, 7200}, {EventTime(1772690828, 0), 3600},
	} {
		if _, offset, ok := reader.Read(Pack(row.value), TimesNear()); !ok || offset != row.offset {
			t.Errorf("%v: %d %v, want %d", row.value, offset, ok, row.offset)
		}
	}
}

// TestClocks are times of day.
func TestClocks(t *testing.T) {
	var reader event.TimeReader
	for text, want := range map[string]event.Time{
		"00:00:00": At(0, 0), "12:00:00.5": At(43200, 5e8), "12:00:00,25": At(43200, 25e7), "9:03:12": At(32592, 0), "22:03": At(79380, 0),
		"T120000": At(43200, 0), "T12:00": At(43200, 0), "120000": {}, "1200": {}, " 23:59:59.999999999\n": At(86399, 999999999),
		"24:00:00": {}, "23:59:60": {}, "25:00:00": {}, "12:60:00": {}, "12:00:00x": {}, "12:00:00Z": {}, "12": {}, "": {}, "noon": {}, "2026-03-05": {},
	} {
		for _, value := range []any{text, []byte(text)} {
			if got, ok := reader.ReadClock(Pack(value)); got != want || ok != want.Set {
				t.Errorf("%q: %+v %v, want %+v", text, got, ok, want)
			}
		}
	}
	if _, ok := reader.ReadClock(Pack(5)); ok {
		t.Error("a number is a time of day")
	}
}

// TestTheYearThatIsMissing is that of the arrival, or one beside it.
func TestTheYearThatIsMissing(t *testing.T) {
	var reader event.TimeReader
	for _, row := range []struct{ text, arrival, want string }{
		{"Dec 31 23:59:59", "2027-01-01T00:00:03Z", "2026-12-31T23:59:59Z"},
		{"Jan  1 00:00:03", "2026-12-31T23:59:59Z", "2027-01-01T00:00:03Z"},
		{"Feb 29 12:00:00", "2028-03-01T00:00:00Z", "2028-02-29T12:00:00Z"},
		{"Feb 29 12:00:00", "2027-12-01T00:00:00Z", "2028-02-29T12:00:00Z"},
		{"Feb 29 12:00:00", "2026-03-01T00:00:00Z", ""},
		{"Jun 15 00:00:00", "2026-06-15T00:00:00Z", "2026-06-15T00:00:00Z"},
	} {
		want := rfc3339(t, row.want)
		if got, _, ok := reader.ReadText(row.text, rfc3339(t, row.arrival).Sec); got != want || ok != want.Set {
			t.Errorf("%s, arrived %s: %v %v, want %s", row.text, row.arrival, got.Std(), ok, row.want)
		}
	}
}

// TestTheNearerReading: digits that are a Unix time and a date are the one or
// the other by the arrival alone.
func TestTheNearerReading(t *testing.T) {
	var reader event.TimeReader
	for _, row := range []struct {
		digits        int
		arrival, want string
	}{
		{2026030506, "2026-03-05T12:00:00Z", "2026-03-05T06:00:00Z"},
		{2026030506, "2034-03-15T00:00:00Z", "2034-03-15T10:15:06Z"},
		{20260305, "1970-08-23T00:00:00Z", "1970-08-23T11:51:45Z"},
		{202603050607, "1976-06-02T00:00:00Z", "1976-06-02T22:37:30.607Z"},
	} {
		near, want := rfc3339(t, row.arrival).Sec, rfc3339(t, row.want)
		for _, value := range spellings(row.digits) {
			if got, _, _ := reader.Read(Pack(value), near); got != want {
				t.Errorf("%T %v, arrived %s: %v, want %s", value, value, row.arrival, got.Std(), row.want)
			}
		}
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
		{"2006-01-02T15:04Z07:00", time.Minute}, {"2006-002T15:04:05.000000000Z07:00", 1},
		{time.RFC1123Z, time.Second}, {"02/Jan/2006:15:04:05 -0700", time.Second}, {time.RubyDate, time.Second},
		{"2006-01-02 15:04:05.999999999 -0700 MST", 1}, {"Mon Jan _2 15:04:05 2006 -0700", time.Second},
	}
	zones := []*time.Location{time.UTC, berlin(t), location(t, "America/Phoenix"), location(t, "Asia/Shanghai")}
	reader := event.TimeReader{Zone: berlin(t)}
	rapid.Check(t, func(rt *rapid.T) {
		l := rapid.SampledFrom(layouts).Draw(rt, "layout")
		zone := rapid.SampledFrom(zones).Draw(rt, "zone")
		want := time.Unix(rapid.Int64Range(-1e9, 253402300799-2*86400).Draw(rt, "sec"), rapid.Int64Range(0, 999999999).Draw(rt, "nsec")).In(zone).Truncate(l.unit)
		text := want.Format(l.layout)
		got, offset, ok := reader.ReadText(text, 0)
		if _, ahead := want.Zone(); !ok || !got.Std().Equal(want) || offset != ahead {
			rt.Fatalf("%q was read as %v %d %v, want %v", text, got.Std(), offset, ok, want)
		}
	})
}

// TestLocalTimesAreReadBack writes instants without an offset, with or without
// the zone's name.
func TestLocalTimesAreReadBack(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "Asia/Shanghai", "America/New_York"} {
		zone := location(t, name)
		reader := event.TimeReader{Zone: zone}
		rapid.Check(t, func(rt *rapid.T) {
			layout := rapid.SampledFrom([]string{time.UnixDate, "2006-01-02 15:04:05 MST"}).Draw(rt, "layout")
			want := time.Unix(rapid.Int64Range(1e9, 3e9).Draw(rt, "sec"), 0).In(zone)
			if got, _, ok := reader.ReadText(want.Format(layout), 0); !ok || !got.Std().Equal(want) {
				rt.Fatalf("%q was read as %v %v, want %v", want.Format(layout), got.Std(), ok, want)
			}
		})
	}
}

// TestSameDigitsSameTime: an integer, the float64 of it and its text.
func TestSameDigitsSameTime(t *testing.T) {
	reader := event.TimeReader{Zone: berlin(t)}
	rapid.Check(t, func(rt *rapid.T) {
		digits := rapid.IntRange(1, 19).Draw(rt, "digits")
		v := rapid.Int64Range(0, int64(math.Pow10(min(digits, 18)))).Draw(rt, "value")
		near := rapid.Int64Range(0, 4e9).Draw(rt, "arrival")
		want, _, ok := reader.Read(Pack(v), near)
		all := []any{fmt.Sprint(v), []byte(fmt.Sprint(v))}
		if int64(float64(v)) == v && v < 1<<53 {
			all = append(all, float64(v))
		}
		for _, value := range all {
			if got, _, ok2 := reader.Read(Pack(value), near); got != want || ok2 != ok {
				rt.Fatalf("%T %v is %v %v, the integer %v %v", value, value, got.Std(), ok2, want.Std(), ok)
			}
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		f := float64(rapid.Int64Range(0, 4e12).Draw(rt, "milliseconds")) / 1000
		want, _, _ := reader.ReadText(fmt.Sprintf("%.3f", f), 0)
		if got, _, _ := reader.Read(Pack(f), 0); got != want {
			rt.Fatalf("%v is %v, its text %v", f, got.Std(), want.Std())
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

// FuzzTime: any value is read within bounds or refused, and the same from bytes
// and from a string.
func FuzzTime(f *testing.F) {
	for _, group := range Times() {
		for _, row := range group.Rows {
			for _, value := range spellings(row.Value) {
				f.Add(Pack(value), int64(1772712000))
			}
		}
	}
	for _, seed := range [][]byte{{0xd6, 0xff, 1, 2, 3, 4}, msgp.AppendFloat64(nil, 1e18), {0xd9}, {}} {
		f.Add(seed, int64(0))
	}
	loc := berlin(f)
	f.Fuzz(func(t *testing.T, raw []byte, near int64) {
		if near < event.MinSec || near > event.MaxSec {
			return
		}
		for _, reader := range []event.TimeReader{{Zone: loc}, {Unit: 24 * time.Hour}, {Zone: loc, Unit: time.Microsecond}} {
			got, offset, ok := reader.Read(raw, near)
			if ok != got.Set || got.Nsec > 999999999 || ok && (got.Sec < event.MinSec || got.Sec > event.MaxSec) || !ok && got != (event.Time{}) {
				t.Errorf("%x is %+v %v", raw, got, ok)
			}
			if text, isText := event.Text(raw); isText {
				if same, o, ok2 := reader.ReadText(string(text), near); same != got || o != offset || ok2 != ok {
					t.Errorf("%q reads differently as a value and as a string", text)
				}
			}
		}
	})
}
