package convert

import (
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// What a date or timestamp, and what a time of day, is read from under Lenient.
const (
	instants    = event.FloatSeconds | event.DateTimeText | event.ShortHour | event.WideOffset
	timesOfDay  = event.FloatSeconds | event.ClockText | event.ShortHour
	longestText = 40 // bytes of a time in text
)

// instant converts to a date, a time of day or a timestamp what isn't a number
// in its unit. A text that says no zone is read in UTC.
func (c *Converter) instant(t *schema.Type, raw []byte) (int64, bool) {
	reader := event.TimeReader{Zone: time.UTC, Longest: longestText}
	if c.Rules == schema.Lenient {
		reader.Accept = instants
		if t.Logical == schema.TimeMillis || t.Logical == schema.TimeMicros {
			reader.Accept = timesOfDay
		}
	}
	at, offset, ok := reader.Read(raw)
	if !ok {
		return 0, false
	}
	if t.Logical == schema.LocalTimestampMillis || t.Logical == schema.LocalTimestampMicros {
		at.Sec += int64(offset) // what the clock on the wall showed
	}
	return inUnit(t.Logical, at.Sec, int64(at.Nsec)), true
}

// inUnit cuts off what the unit has no place for.
func inUnit(l schema.Logical, sec, nsec int64) int64 {
	const day = 86400
	days := sec / day
	if sec%day < 0 {
		days--
	}
	switch l {
	case schema.Date:
		return days
	case schema.TimeMillis:
		return (sec-days*day)*1000 + nsec/1e6
	case schema.TimeMicros:
		return (sec-days*day)*1e6 + nsec/1e3
	case schema.TimestampMillis, schema.LocalTimestampMillis:
		return sec*1000 + nsec/1e6
	}
	return sec*1e6 + nsec/1e3
}
