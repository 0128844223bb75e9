package event_test

import (
	"math"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

func TestTimes(t *testing.T) {
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
		{"milliseconds", int64(1767225600123), unset},
		{"nanoseconds", int64(1767225600123456789), unset},
		{"smallest integer", int64(math.MinInt64), unset},
		{"largest integer", uint64(math.MaxUint64), unset},
		{"year 9999", int64(253402300799), At(253402300799, 0)},
		{"year 10000", int64(253402300800), unset},
		{"year 0", int64(-62167219200), At(-62167219200, 0)},
		{"year -1", int64(-62167219201), unset},
		{"float", 1767225600.5, At(1767225600, 500000000)},
		{"float32", float32(2.25), At(2, 250000000)},
		{"float before 1970", -0.25, At(-1, 750000000)},
		{"float just below a second", math.Nextafter(1, 0), At(1, 0)},
		{"smallest float above zero", math.SmallestNonzeroFloat64, At(0, 0)},
		{"largest float", math.MaxFloat64, unset},
		{"NaN", math.NaN(), unset},
		{"infinity", math.Inf(1), unset},
		{"minus infinity", math.Inf(-1), unset},
		{"float of the year 10000", 253402300800.0, unset},
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
