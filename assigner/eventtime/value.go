package eventtime

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// A number is Unix time in the unit that its size suggests. As seconds the
// first bound is the year 5138; as milliseconds it is March 1973, so that only
// milliseconds, microseconds and nanoseconds from before are misread.
const (
	leastMillis = 1e11
	leastMicros = 1e14
	leastNanos  = 1e17
)

// nanosPerUnit is the length of the unit that a number of this size counts.
func nanosPerUnit(v uint64) uint64 {
	switch {
	case v < leastMillis:
		return 1e9
	case v < leastMicros:
		return 1e6
	case v < leastNanos:
		return 1e3
	}
	return 1
}

// readValue reads an instant from a raw msgpack value: a number, a text, a
// bin that holds one, Fluent Bit's EventTime, or msgpack's timestamp.
func readValue(raw []byte, loc *time.Location) (sec int64, nsec uint32, ok bool) {
	switch event.KindOf(raw) {
	case event.KindInt, event.KindUint:
		v, ok := event.Uint(raw)
		if !ok {
			return 0, 0, false
		}
		sec, nsec = fromCount(v, 0)
		return sec, nsec, true
	case event.KindFloat32, event.KindFloat64:
		v, _ := event.Float(raw)
		return fromFloat(v)
	case event.KindString, event.KindBin:
		s, _ := event.Text(raw)
		return readText(s, loc)
	case event.KindExt:
		typ, data, _ := event.Ext(raw)
		return fromExt(typ, data)
	}
	return 0, 0, false
}

// fromCount reads v units and a fraction of a unit in billionths.
func fromCount(v uint64, billionths uint64) (sec int64, nsec uint32) {
	unit := nanosPerUnit(v)
	perSecond := 1e9 / unit
	return int64(v / perSecond), uint32(v%perSecond*unit + billionths*unit/1e9)
}

func fromFloat(v float64) (sec int64, nsec uint32, ok bool) {
	if !(v >= 0 && v < 1<<63) { // NaN is neither
		return 0, 0, false
	}
	seconds := v / float64(1e9/nanosPerUnit(uint64(v)))
	whole := math.Floor(seconds)
	return int64(whole), uint32(min((seconds-whole)*1e9, 999999999)), true
}

// fromExt reads Fluent Bit's EventTime (type 0: seconds, nanoseconds) and
// msgpack's own timestamp (type -1, in three lengths).
func fromExt(typ int8, data []byte) (sec int64, nsec uint32, ok bool) {
	switch {
	case typ == 0 && len(data) == 8:
		sec, nsec = int64(binary.BigEndian.Uint32(data)), binary.BigEndian.Uint32(data[4:])
	case typ == -1 && len(data) == 4:
		sec = int64(binary.BigEndian.Uint32(data))
	case typ == -1 && len(data) == 8:
		v := binary.BigEndian.Uint64(data)
		sec, nsec = int64(v&(1<<34-1)), uint32(v>>34)
	case typ == -1 && len(data) == 12:
		sec, nsec = int64(binary.BigEndian.Uint64(data[4:])), binary.BigEndian.Uint32(data)
	default:
		return 0, 0, false
	}
	return sec, nsec, nsec < 1e9
}
