package eventtime

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/tinylib/msgp/msgp"
)

var arrival = time.Date(2026, 11, 29, 22, 3, 12, 345678901, time.UTC)

func berlin(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// record is an event whose key "time" has the raw value.
func record(raw []byte) *event.Event {
	body := msgp.AppendMapHeader(nil, 2)
	body = msgp.AppendString(body, "log")
	body = msgp.AppendString(body, "x")
	body = msgp.AppendString(body, "time")
	return &event.Event{Body: append(body, raw...), Time: event.Time{Sec: 1e9, Nsec: 7, Set: true}}
}

func str(s string) []byte { return msgp.AppendString(nil, s) }

func ext(typ int8, data ...byte) []byte {
	return append([]byte{0xc7, byte(len(data)), byte(typ)}, data...)
}

func TestValues(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const noon = "2026-11-29T12:00:00Z" // 1795953600
	for _, tc := range []struct {
		name string
		raw  []byte
		want time.Time
	}{
		{"seconds", msgp.AppendInt64(nil, 1795953600), at(noon)},
		{"unsigned seconds", msgp.AppendUint64(nil, 1795953600), at(noon)},
		{"milliseconds", msgp.AppendInt64(nil, 1795953600123), at("2026-11-29T12:00:00.123Z")},
		{"microseconds", msgp.AppendInt64(nil, 1795953600123456), at("2026-11-29T12:00:00.123456Z")},
		{"nanoseconds", msgp.AppendInt64(nil, 1795953600123456789), at("2026-11-29T12:00:00.123456789Z")},
		{"float seconds", msgp.AppendFloat64(nil, 1795953600.5), at("2026-11-29T12:00:00.5Z")},
		{"float32 seconds", msgp.AppendFloat32(nil, 1795953664), at("2026-11-29T12:01:04Z")},
		{"float milliseconds", msgp.AppendFloat64(nil, 1795953600500), at("2026-11-29T12:00:00.5Z")},
		{"EventTime", ext(0, 0x6b, 0x0c, 0x15, 0x40, 0, 0, 0, 9), at("2026-11-29T12:00:00.000000009Z").Add(time.Duration(0x6b0c1540-1795953600) * time.Second)},
		{"msgpack timestamp 32", ext(-1, 0x6b, 0x0c, 0x15, 0x40), time.Unix(0x6b0c1540, 0)},
		{"msgpack timestamp 64", ext(-1, 0, 0, 0, 0x04, 0x6b, 0x0c, 0x15, 0x40), time.Unix(0x6b0c1540, 1)},
		{"msgpack timestamp 96", ext(-1, 0, 0, 0, 2, 0, 0, 0, 0, 0x6b, 0x0c, 0x15, 0x40), time.Unix(0x6b0c1540, 2)},
		{"RFC 3339", str(noon), at(noon)},
		{"with fraction and offset", str("2026-11-29T13:00:00.25+01:00"), at("2026-11-29T12:00:00.25Z")},
		{"comma, basic offset", str("2026-11-29 05:00:00,25-0700"), at("2026-11-29T12:00:00.25Z")},
		{"blank before a short offset", str("2026-11-29 13:00:00 +01"), at(noon)},
		{"lower case", str("2026-11-29t12:00:00z"), at(noon)},
		{"more than nanoseconds", str("2026-11-29T12:00:00.123456789999Z"), at("2026-11-29T12:00:00.123456789Z")},
		{"minutes", str("2026-11-29T12:00Z"), at(noon)},
		{"basic form", str("20261129T120000Z"), at(noon)},
		{"a local time is one of the zone", str("2026-07-01T14:00:00"), at("2026-07-01T12:00:00Z")},
		{"a local winter time", str("2026-11-29 13:00:00.5"), at("2026-11-29T12:00:00.5Z")},
		{"a date", str("2026-11-29"), at("2026-11-28T23:00:00Z")},
		{"a date in digits", str("20261129"), at("2026-11-28T23:00:00Z")},
		{"a date and time in digits", str("20261129130000"), at(noon)},
		{"EventTime with seconds of nanoseconds", ext(0, 0x6b, 0x0c, 0x15, 0x40, 0xff, 0, 0, 9), time.Unix(0x6b0c1540, 0xff000009)},
		{"hour 24", str("2026-02-28T24:00:00Z"), at("2026-03-01T00:00:00Z")},
		{"leap second", str("2016-12-31T23:59:60Z"), at("2017-01-01T00:00:00Z")},
		{"leap day", str("2028-02-29T00:00:00Z"), at("2028-02-29T00:00:00Z")},
		{"digits", str("1795953600"), at(noon)},
		{"digits with fraction", str("1795953600.25"), at("2026-11-29T12:00:00.25Z")},
		{"millisecond digits with fraction", str("1795953600123.5"), at("2026-11-29T12:00:00.1235Z")},
		{"blanks around", str(" \t1795953600\r\n"), at(noon)},
		{"bin", msgp.AppendBytes(nil, []byte(noon)), at(noon)},
		{"the first second that counts", msgp.AppendInt64(nil, 86400), at("1970-01-02T00:00:00Z")},
		{"the last second that counts", str("9999-12-31T23:59:59Z"), at("9999-12-31T23:59:59Z")},

		{"1970-01-01", msgp.AppendInt64(nil, 86399), arrival},
		{"zero", msgp.AppendInt64(nil, 0), arrival},
		{"negative", msgp.AppendInt64(nil, -5), arrival},
		{"the largest integer", msgp.AppendUint64(nil, math.MaxUint64), time.Unix(18446744073, 709551615)},
		{"NaN", msgp.AppendFloat64(nil, math.NaN()), arrival},
		{"infinity", msgp.AppendFloat64(nil, math.Inf(1)), arrival},
		{"negative float", msgp.AppendFloat64(nil, -1), arrival},
		{"nil", msgp.AppendNil(nil), arrival},
		{"bool", msgp.AppendBool(nil, true), arrival},
		{"array", msgp.AppendArrayHeader(nil, 0), arrival},
		{"map", msgp.AppendMapHeader(nil, 0), arrival},
		{"other extension", ext(5, 0x6b, 0x0c, 0x15, 0x40, 0, 0, 0, 9), arrival},
		{"timestamp before 1970", ext(-1, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff, 0x6b, 0x0c, 0x15, 0x40), arrival},
		{"empty", str(""), arrival},
		{"words", str("yesterday"), arrival},
		{"thirteenth month", str("2026-13-01T00:00:00Z"), arrival},
		{"no such day", str("2026-02-29T00:00:00Z"), arrival},
		{"minute 60", str("2026-02-28T23:60:00Z"), arrival},
		{"one dash", str("2026-1129T00:00:00Z"), arrival},
		{"one colon", str("2026-11-29T00:0000Z"), arrival},
		{"dot without fraction", str("2026-11-29T00:00:00.Z"), arrival},
		{"text behind", str("2026-11-29T00:00:00Z!"), arrival},
		{"digits and text", str("1795953600s"), arrival},
		{"dot without digits", str("1795953600."), arrival},
		{"too many digits", str("17959536001234567890123"), arrival},
		{"no such offset", str("2026-11-29T00:00:00+1"), arrival},
		{"offset over a day", str("2026-11-29T00:00:00+25:00"), arrival},
		{"year 10000", str("9999-12-31T23:59:59-01:00"), arrival},
		{"very long", str(strings.Repeat("1", 5000)), arrival},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := Parse("$time", berlin(t))
			if err != nil {
				t.Fatal(err)
			}
			e, c := record(tc.raw), &assigner.Context{Arrival: arrival}
			sec, nsec := s.At(e, c)
			if got := time.Unix(sec, int64(nsec)); !got.Equal(tc.want) {
				t.Errorf("got %v, want %v", got.UTC(), tc.want.UTC())
			}
			if n := testing.AllocsPerRun(10, func() { s.At(e, c) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// TestEverySpelling: the bucket's time is the one that the table of times says,
// or the arrival, which is then told with its reason and the value.
func TestEverySpelling(t *testing.T) {
	arrival, err := time.Parse(time.RFC3339, eventtest.TimesArrive)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("$time", berlin(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range eventtest.Times() {
		for _, row := range group.Rows {
			t.Run(fmt.Sprintf("%s/%T %v", group.Name[:7], row.Value, row.Value), func(t *testing.T) {
				raw := eventtest.Pack(row.Value)
				want, wantWhy := arrival, ""
				at, err := time.Parse(time.RFC3339Nano, row.Want)
				switch {
				case row.Value == nil:
					wantWhy = Missing
				case err != nil:
					wantWhy = NoTime
				case at.Unix() < firstSec:
					wantWhy = TooEarly
				default:
					want = at
				}
				var why string
				var told []byte
				c := &assigner.Context{Arrival: arrival, ByArrival: func(reason string, value []byte) { why, told = reason, value }}
				sec, nsec := s.At(record(raw), c)
				if got := time.Unix(sec, int64(nsec)); !got.Equal(want) {
					t.Errorf("got %v, want %v", got.UTC(), want.UTC())
				}
				if why != wantWhy || why != "" && string(told) != string(raw) {
					t.Errorf("the arrival counts because %q of %x, want %q of %x", why, told, wantWhy, raw)
				}
			})
		}
	}
}

// TestTheArrivalIsTold, where there is no value too.
func TestTheArrivalIsTold(t *testing.T) {
	for _, tc := range []struct {
		source, tag, why string
		time             event.Time
		value            []byte
	}{
		{"record", "", Missing, event.Time{}, nil},
		{"record", "", TooEarly, event.Time{Sec: 3600, Set: true}, nil},
		{"$nope", "", Missing, event.Time{}, nil},
		{"$TAG[1]", "app.today", NoTime, event.Time{}, str("today")},
		{"$TAG[1]", "app", Missing, event.Time{}, nil},
		{"arrival", "", "", event.Time{}, nil},
	} {
		s, err := Parse(tc.source, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		e := record(msgp.AppendNil(nil))
		e.Time = tc.time
		var why string
		var told []byte
		s.At(e, &assigner.Context{Tag: tc.tag, Arrival: arrival, ByArrival: func(reason string, value []byte) { why, told = reason, value }})
		if why != tc.why || string(told) != string(tc.value) {
			t.Errorf("%s of tag %q: %q %q, want %q %q", tc.source, tc.tag, why, told, tc.why, tc.value)
		}
	}
}

func TestSources(t *testing.T) {
	own := event.Time{Sec: 1e9, Nsec: 7, Set: true}
	for _, tc := range []struct {
		name, source, tag string
		time              event.Time
		want              time.Time
	}{
		{"record", "record", "", own, time.Unix(1e9, 7)},
		{"case doesn't matter", "ReCord", "", own, time.Unix(1e9, 7)},
		{"record without time", "record", "", event.Time{}, arrival},
		{"record in 1970", "record", "", event.Time{Sec: 3600, Set: true}, arrival},
		{"record before 1970", "record", "", event.Time{Sec: -1e9, Set: true}, arrival},
		{"record with milliseconds for seconds", "record", "", event.Time{Sec: 1795953600123, Set: true}, arrival},
		{"arrival", "ARRIVAL", "", own, arrival},
		{"part of the tag", "$TAG[1]", "app.20261129.x", own, time.Date(2026, 11, 28, 23, 0, 0, 0, time.UTC)},
		{"no such part of the tag", "$TAG[3]", "app.20261129.x", own, arrival},
		{"no such key", "$nope['time']", "", own, arrival},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := Parse(tc.source, berlin(t))
			if err != nil {
				t.Fatal(err)
			}
			e := record(msgp.AppendNil(nil))
			e.Time = tc.time
			sec, nsec := s.At(e, &assigner.Context{Tag: tc.tag, Arrival: arrival})
			if got := time.Unix(sec, int64(nsec)); !got.Equal(tc.want) {
				t.Errorf("got %v, want %v", got.UTC(), tc.want.UTC())
			}
		})
	}
}

func TestRefusedSources(t *testing.T) {
	for _, source := range []string{"", "time", "$", "$time.sub", "record ", "$a['b"} {
		t.Run(source, func(t *testing.T) {
			if _, err := Parse(source, time.UTC); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

// FuzzValue: whatever a record holds, its time is one that counts.
func FuzzValue(f *testing.F) {
	for _, seed := range [][]byte{str("2026-11-29T12:00:00.5+01:00"), str("1795953600.25"), str("20261129130000"), ext(-1, 1, 2, 3, 4), msgp.AppendFloat64(nil, 1e18), {0xd9}} {
		f.Add(seed)
	}
	loc := berlin(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Parse("$time", loc)
		if err != nil {
			t.Fatal(err)
		}
		if sec, nsec := s.At(record(raw), &assigner.Context{Arrival: arrival}); sec < firstSec || sec > lastSec || nsec > 999999999 {
			t.Errorf("%x gives %d s and %d ns", raw, sec, nsec)
		}
	})
}
