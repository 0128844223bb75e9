package convert

import (
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

const day = 86400 // seconds

// instant converts to a date, a time of day or a timestamp what isn't an integer
// in its unit, and cuts off what the unit has no place for. Text is of the forms
// of docs/times.md; whole numbers in text count the unit too, floats seconds.
//
// A date and a time of day are those of the zone; a local timestamp is what the
// clock on the wall showed: the one that a text says, else that of the zone.
func (c *Converter) instant(t *schema.Type, raw []byte) (int64, bool) {
	kind := event.KindOf(raw)
	if c.Rules != schema.Lenient && kind != event.KindExt || kind == event.KindUint {
		return 0, false
	}
	reader := event.TimeReader{Zone: c.Zone, Unit: t.Logical.Unit()}
	if t.Logical == schema.TimeMillis || t.Logical == schema.TimeMicros {
		return c.timeOfDay(t, &reader, raw)
	}
	at, offset, ok := reader.Read(raw, c.Arrival)
	switch t.Logical {
	case schema.Date:
		at.Sec += int64(reader.Offset(at))
	case schema.LocalTimestampMillis, schema.LocalTimestampMicros:
		at.Sec += int64(offset)
	}
	return inUnit(t.Logical, at), ok
}

func (c *Converter) timeOfDay(t *schema.Type, reader *event.TimeReader, raw []byte) (int64, bool) {
	var at event.Time
	var ok bool
	switch event.KindOf(raw) {
	case event.KindString, event.KindBin:
		at, ok = reader.ReadClock(raw)
	default: // a float counts the seconds of the day
		at, _, ok = reader.Read(raw, c.Arrival)
		if event.KindOf(raw) == event.KindExt {
			at.Sec += int64(reader.Offset(at))
			at.Sec -= floorDiv(at.Sec, day) * day
		}
	}
	return inUnit(t.Logical, at), ok
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// inUnit cuts off what the unit has no place for.
func inUnit(l schema.Logical, t event.Time) int64 {
	if l == schema.Date {
		return floorDiv(t.Sec, day)
	}
	unit := int64(l.Unit())
	return t.Sec*(int64(time.Second)/unit) + int64(t.Nsec)/unit
}
