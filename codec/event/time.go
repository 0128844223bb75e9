package event

import "math"

// Seconds outside the years 0 to 9999 are no time that a calendar, an ISO 8601
// text or a reader of either knows. They are mostly a time in another unit.
const (
	minSec = -62167219200 // 0000-01-01T00:00:00Z
	maxSec = 253402300799 // 9999-12-31T23:59:59Z
)

type marker uint8

const (
	noMarker marker = iota
	groupHeader
	groupFooter
)

// EventTime seconds of the two group markers (fluent-bit,
// flb_log_event_decoder.c): -1 and -2 as int32, with no nanoseconds.
const (
	headerSec = 0xffffffff
	footerSec = 0xfffffffe
)

const (
	noTime      = "the time is neither an EventTime, a number nor nil"
	noEventTime = "the time is an EventTime of a group marker's second with nanoseconds"
)

// readTime decodes the time at b[i]. A number that is no time between the
// years 0 and 9999 leaves the time unset: the record is sound, and what needs
// its time falls back to the arrival.
func readTime(b []byte, i int) (t Time, end int, m marker, reason string) {
	h, ok := readHead(b[i:])
	if !ok {
		return t, i, noMarker, noTime
	}
	raw := b[i:]
	end = i + h.start + h.size
	switch h.kind {
	case KindNil, KindUint:
		return t, end, noMarker, ""
	case KindInt:
		return fromSeconds(int64(integer(raw)), 0), end, noMarker, ""
	case KindFloat32, KindFloat64:
		f, _ := Float(raw)
		return fromFloat(f), end, noMarker, ""
	case KindExt:
		if raw[h.start-1] != 0 || h.size != 8 {
			return t, end, noMarker, noTime
		}
		return fromEventTime(raw[h.start:end-i], end)
	}
	return t, end, noMarker, noTime
}

func fromEventTime(data []byte, end int) (t Time, _ int, m marker, reason string) {
	sec, nsec := eventTime(data)
	if sec >= footerSec {
		switch {
		case nsec != 0:
			return t, end, noMarker, noEventTime
		case sec == headerSec:
			return t, end, groupHeader, ""
		}
		return t, end, groupFooter, ""
	}
	return fromSeconds(sec, nsec), end, noMarker, ""
}

// fromSeconds carries nanoseconds of a second and more into the seconds.
func fromSeconds(sec int64, nsec uint32) Time {
	if sec < minSec || sec > maxSec {
		return Time{}
	}
	if nsec >= 1e9 {
		sec, nsec = sec+int64(nsec/1e9), nsec%1e9
	}
	return Time{Sec: sec, Nsec: nsec, Set: true}
}

// fromFloat rounds to the nanosecond, downwards in the seconds, so that the
// nanoseconds count forward before 1970 too.
func fromFloat(f float64) Time {
	if !(f >= minSec && f < maxSec+1) { // NaN is neither
		return Time{}
	}
	whole := math.Floor(f)
	return fromSeconds(int64(whole), uint32(math.Round((f-whole)*1e9)))
}
