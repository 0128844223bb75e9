package event_test

import (
	"math"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// TestEventsTimes: the time in an event's header.
func TestEventsTimes(t *testing.T) {
	unset := event.Time{}
	rows := []struct {
		name string
		time any
		want event.Time
	}{
		{"EventTime", EventTime(1767225600, 123456789), At(1767225600, 123456789)},
		{"EventTime in an ext8", Wide{Value: EventTime(5, 6)}, At(5, 6)},
		{"EventTime with a second of nanoseconds", EventTime(5, 1e9), At(6, 0)},
		{"EventTime with more than that", EventTime(5, math.MaxUint32), At(9, 294967295)},
		{"EventTime of the year 2106", EventTime(0xfffffffd, 9), At(0xfffffffd, 9)},
		{"the epoch", EventTime(0, 0), At(0, 0)},
		{"nil", nil, unset},
		{"integer", 1767225600, At(1767225600, 0)},
		{"integer before 1970", -1, At(-1, 0)},
		{"integer of eight bytes", Wide{Value: int64(1767225600)}, At(1767225600, 0)},
		{"the last number of seconds", int64(99999999999), At(99999999999, 0)},
		{"milliseconds", int64(1767225600123), At(1767225600, 123000000)},
		{"microseconds", int64(1767225600123456), At(1767225600, 123456000)},
		{"nanoseconds", int64(1767225600123456789), At(1767225600, 123456789)},
		{"smallest integer", int64(math.MinInt64), At(-9223372037, 145224192)},
		{"largest integer", uint64(math.MaxUint64), At(18446744073, 709551615)},
		{"year 1", int64(-62135596800), At(-62135596800, 0)},
		{"float", 1767225600.5, At(1767225600, 500000000)},
		{"float32", float32(2.25), At(2, 250000000)},
		{"float before 1970", -0.25, At(-1, 750000000)},
		{"float just below a second", math.Nextafter(1, 0), At(1, 0)},
		{"smallest float above zero", math.SmallestNonzeroFloat64, At(0, 0)},
		{"float with the digits of a text", 1767225600.123, At(1767225600, 123000000)},
		{"float of milliseconds", 1767225600123.0, At(1767225600, 123000000)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for layout, object := range map[string]any{"with metadata": Event(row.time, Map{}, Map{}), "without": Legacy(row.time, Map{})} {
				events, rest := Read(Pack(object))
				if len(events) != 1 || rest != nil || events[0].Malformed != "" {
					t.Fatalf("%s: %d events, rest %v", layout, len(events), rest)
				}
				if got := events[0].Time; got != row.want {
					t.Errorf("%s: got %+v, want %+v", layout, got, row.want)
				}
			}
		})
	}
}

// TestEventsOutOfTime: a time that no reader takes isn't left out, the event
// becomes a dead letter that says the value and the unit.
func TestEventsOutOfTime(t *testing.T) {
	for value, shown := range map[any]string{
		int64(-62135596801): "-62135596801", int64(-99999999999): "-99999999999",
		math.MaxFloat64: "1.7976931348623157e+308", math.NaN(): "NaN", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", 1e19: "10000000000000000000.0",
	} {
		for layout, object := range map[string]any{"with metadata": Event(value, Map{}, Map{}), "without": Legacy(value, Map{})} {
			events, rest := Read(Pack(object))
			want := "the time " + shown + " as Unix time is outside the years 1 to 9999"
			if len(events) != 1 || rest != nil || events[0].Malformed != want {
				t.Errorf("%v %s: %d events, %q, want %q", value, layout, len(events), events[0].Malformed, want)
			}
		}
	}
}
