package event

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
	noSuchYear  = " as Unix time is outside the years 1 to 9999"
)

// readTime decodes the time at b[i], by the rules of TimeReader but for dates in
// digits: it is Unix time. nil leaves it unset: the record is sound, and what
// needs its time falls back to the arrival.
func readTime(b []byte, i int) (t Time, end int, m marker, reason string) {
	h, ok := readHead(b[i:])
	if !ok {
		return t, i, noMarker, noTime
	}
	raw := b[i:]
	end = i + h.start + h.size
	var n number
	switch h.kind {
	case KindNil:
		return t, end, noMarker, ""
	case KindInt, KindUint:
		n = integerOf(raw, h.kind)
	case KindFloat32, KindFloat64:
		f, _ := Float(raw)
		n, ok = numberOf(f)
	case KindExt:
		if raw[h.start-1] != 0 || h.size != 8 {
			return t, end, noMarker, noTime
		}
		return fromEventTime(raw[h.start:end-i], end)
	default:
		return t, end, noMarker, noTime
	}
	if t = n.counted(unitOf(n.whole)); !ok || !t.inRange() {
		text, _ := AppendScalar([]byte("the time "), raw)
		return Time{}, end, noMarker, string(text) + noSuchYear
	}
	return t, end, noMarker, ""
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
	return Time{Sec: sec, Nsec: nsec}.carried(), end, noMarker, ""
}
