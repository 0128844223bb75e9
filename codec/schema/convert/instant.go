package convert

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// AppendTime packs an event's time, or nil if it is unset, as what Converter
// takes for a time: msgpack's timestamp of 96 bits, since an EventTime ends in
// 2106 and begins in 1970.
func AppendTime(dst []byte, t event.Time) []byte {
	if !t.Set {
		return append(dst, 0xc0)
	}
	dst = append(dst, 0xc7, 12, 0xff)
	dst = binary.BigEndian.AppendUint32(dst, t.Nsec)
	return binary.BigEndian.AppendUint64(dst, uint64(t.Sec))
}

// instantOf reads a time that msgpack has a type for: Fluent Bit's EventTime
// (ext 0) or msgpack's own timestamp (ext -1).
func instantOf(raw []byte) (t event.Time, ok bool) {
	typ, b, isExt := event.Ext(raw)
	if !isExt {
		return t, false
	}
	switch {
	case typ == 0 && len(b) == 8:
		t.Sec, t.Nsec = int64(binary.BigEndian.Uint32(b)), binary.BigEndian.Uint32(b[4:])
	case typ == -1 && len(b) == 4:
		t.Sec = int64(binary.BigEndian.Uint32(b))
	case typ == -1 && len(b) == 8:
		n := binary.BigEndian.Uint64(b)
		t.Sec, t.Nsec = int64(n&(1<<34-1)), uint32(n>>34)
	case typ == -1 && len(b) == 12:
		t.Sec, t.Nsec = int64(binary.BigEndian.Uint64(b[4:])), binary.BigEndian.Uint32(b)
	default:
		return t, false
	}
	t.Set = t.Nsec < 1e9 && t.Sec > -1<<40 && t.Sec < 1<<40 // some 35,000 years
	return t, t.Set
}

// instant converts to a date, a time of day or a timestamp what isn't a number
// in its unit.
func (c *Converter) instant(t *schema.Type, raw []byte) (int64, bool) {
	if at, ok := instantOf(raw); ok {
		return inUnit(t.Logical, at.Sec, int64(at.Nsec)), true
	}
	if c.Rules != schema.Lenient {
		return 0, false
	}
	if f, ok := event.Float(raw); ok {
		if !(math.Abs(f) < 1<<40) {
			return 0, false
		}
		sec := math.Floor(f)
		return inUnit(t.Logical, int64(sec), int64((f-sec)*1e9)), true
	}
	if event.KindOf(raw) != event.KindString {
		return 0, false
	}
	s, _ := event.Text(raw)
	at, ok := parseInstant(t.Logical, s)
	if !ok {
		return 0, false
	}
	return inUnit(t.Logical, at.Unix(), int64(at.Nanosecond())), true
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

// parseInstant reads ISO 8601 as logs have it: a T or a space between date and
// time, a fraction or none, a zone or UTC.
func parseInstant(l schema.Logical, s []byte) (at time.Time, ok bool) {
	const longest = 40
	if len(s) > longest || len(s) < len("15:04:05") {
		return at, false
	}
	text := string(s)
	layouts := []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", time.DateOnly}
	switch {
	case l == schema.TimeMillis || l == schema.TimeMicros:
		layouts = []string{time.TimeOnly}
	case len(s) > 10 && s[10] == ' ':
		layouts = []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", time.DateTime}
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return wallClock(l, at), true
		}
	}
	return at, false
}

// wallClock makes a local timestamp of what the clock on the wall showed.
func wallClock(l schema.Logical, at time.Time) time.Time {
	if l != schema.LocalTimestampMillis && l != schema.LocalTimestampMicros {
		return at
	}
	_, offset := at.Zone()
	return at.Add(time.Duration(offset) * time.Second)
}

// appendInstant writes ISO 8601 in UTC with microseconds, as in JSON.
func appendInstant(dst []byte, t event.Time) []byte {
	return t.Std().AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
}
