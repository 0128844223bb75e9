package datetime

import (
	"errors"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/timepattern"
	"github.com/out-hdfs/out_hdfs/assigner/timezone"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

var arrival = time.Date(2026, 11, 29, 22, 3, 12, 345678901, time.UTC)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := timezone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestBuckets(t *testing.T) {
	for _, tc := range []struct {
		name, pattern, zone, source string
		sec                         int64
		want                        string
	}{
		{"flink's default", "yyyy-MM-dd--HH", "UTC", "record", 1795953600, "2026-11-29--12"},
		{"the zone's clock", "yyyy-MM-dd--HH", "Asia/Shanghai", "record", 1795953600, "2026-11-29--20"},
		{"a zone over the date line", "yyyyMMdd", "Pacific/Kiritimati", "record", 1795953600, "20261130"},
		{"folders in folders", "yyyy/MM/dd/HH", "UTC", "record", 1795953600, "2026/11/29/12"},
		{"strftime", "year=%Y/month=%m/day=%d", "UTC", "record", 1795953600, "year=2026/month=11/day=29"},
		{"the hour before the gap", "HHxx", "Europe/Berlin", "record", 1774745999, "01+0100"},
		{"the hour after the gap", "HHxx", "Europe/Berlin", "record", 1774746000, "03+0200"},
		{"an hour that comes twice, first", "HHxx", "Europe/Berlin", "record", 1792888200, "02+0200"},
		{"an hour that comes twice, second", "HHxx", "Europe/Berlin", "record", 1792891800, "02+0100"},
		{"arrival", "yyyy-MM-dd--HH", "UTC", "arrival", 1e9, "2026-11-29--22"},
		{"an uptime for a time", "yyyy-MM-dd--HH", "UTC", "record", 4711, "2026-11-29--22"},
		{"1970-01-02", "yyyy-MM-dd--HH", "UTC", "record", 86400, "1970-01-02--00"},
		{"year 9999", "yyyy-MM-dd--HH", "UTC", "record", 253402300799, "9999-12-31--23"},
		{"year 10000", "yyyy-MM-dd--HH", "UTC", "record", 253402300800, "2026-11-29--22"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := New(Options{Pattern: tc.pattern, Zone: zone(t, tc.zone), Source: tc.source})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second answer comes from memory
				got, err := a.Bucket(&event.Event{Time: event.Time{Sec: tc.sec, Set: true}}, &assigner.Context{Arrival: arrival})
				if got != tc.want || err != nil {
					t.Errorf("bucket %q, error %v, want %q", got, err, tc.want)
				}
			}
		})
	}
}

func TestRefusedOptions(t *testing.T) {
	syntax := new(*timepattern.SyntaxError)
	for _, tc := range []struct {
		name   string
		o      Options
		syntax bool
	}{
		{"syntax of the pattern", Options{Pattern: "yyyy-MM-ddTHH", Source: "record"}, true},
		{"a hidden folder", Options{Pattern: "_yyyy", Source: "record"}, false},
		{"a colon", Options{Pattern: "HH:mm", Source: "record"}, false},
		{"no pattern", Options{Source: "record"}, false},
		{"no such source", Options{Pattern: "yyyy", Source: "now"}, false},
		{"the host's zone by id", Options{Pattern: "VV", Source: "record"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := New(tc.o)
			if a != nil || err == nil || errors.As(err, syntax) != tc.syntax {
				t.Errorf("assigner %v, error %v", a, err)
			}
		})
	}
}

func TestABucketSeenBeforeAllocatesNothing(t *testing.T) {
	for _, pattern := range []string{"yyyy-MM-dd--HH", "yyyy/MM/dd/HHmmss", "%Y-%m-%d/%H"} {
		t.Run(pattern, func(t *testing.T) {
			a, err := New(Options{Pattern: pattern, Zone: zone(t, "Europe/Berlin"), Source: "record"})
			if err != nil {
				t.Fatal(err)
			}
			e, c := &event.Event{Time: event.Time{Sec: 1795953600, Set: true}}, &assigner.Context{Arrival: arrival}
			n := testing.AllocsPerRun(100, func() {
				e.Time.Sec ^= 3600 // late and current in turn
				if _, err := a.Bucket(e, c); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func BenchmarkBucket(b *testing.B) {
	a, err := New(Options{Pattern: "yyyy-MM-dd--HH", Zone: zone(b, "Europe/Berlin"), Source: "record"})
	if err != nil {
		b.Fatal(err)
	}
	e, c := &event.Event{Time: event.Time{Sec: 1795953600, Set: true}}, &assigner.Context{Arrival: arrival}
	b.ReportAllocs()
	for b.Loop() {
		e.Time.Sec++
		if _, err := a.Bucket(e, c); err != nil {
			b.Fatal(err)
		}
	}
}
