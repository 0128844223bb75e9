package schema

import (
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Unit is what the numbers of a date, a time of day or a timestamp count; 0 for
// any other type.
func (l Logical) Unit() time.Duration {
	switch l {
	case Date:
		return 24 * time.Hour
	case TimeMillis, TimestampMillis, LocalTimestampMillis:
		return time.Millisecond
	case TimeMicros, TimestampMicros, LocalTimestampMicros:
		return time.Microsecond
	}
	return 0
}

// UnitName is Unit in words, "" for none.
func (l Logical) UnitName() string {
	switch l.Unit() {
	case 24 * time.Hour:
		return "days"
	case time.Millisecond:
		return "milliseconds"
	case time.Microsecond:
		return "microseconds"
	}
	return ""
}

// Range is the least and the largest number of a logical type that has a Unit:
// the years 1 to 9999, or a time of day below 24 h. Beyond it PyArrow, Polars,
// fastavro and Spark refuse the whole file.
func (l Logical) Range() (least, most int64) {
	switch l {
	case Date:
		const day = 86400
		return event.MinSec / day, event.MaxSec / day // both are the beginning and the end of a day
	case TimeMillis, TimeMicros:
		return 0, int64(24*time.Hour/l.Unit()) - 1
	}
	perSecond := int64(time.Second / l.Unit())
	return event.MinSec * perSecond, event.MaxSec*perSecond + perSecond - 1
}

// InRange reports whether a type's reader takes the number v: an Int's has 32
// bits, and one that has a Unit its Range.
func (t *Type) InRange(v int64) bool {
	if t.Kind == Int && int64(int32(v)) != v {
		return false
	}
	if t.Logical.Unit() == 0 {
		return true
	}
	least, most := t.Logical.Range()
	return least <= v && v <= most
}
