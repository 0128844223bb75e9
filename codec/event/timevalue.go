package event

import (
	"encoding/binary"
	"math"
	"time"
)

// TimeForms are the forms of a value that count as a time, as a set of bits.
// Fluent Bit's EventTime and msgpack's timestamp always count.
type TimeForms uint32

const (
	// A float is Unix time in seconds, also before 1970.
	FloatSeconds TimeForms = 1 << iota
	// A number from 0 on, also one in a text, with or without a fraction, is Unix
	// time in the unit that its size suggests: see nanosPerUnit. But 8 or 14
	// digits that are a date (CompactText) are that.
	NumbersBySize
	// A bin holds a text.
	BinText
	// 2026-11-29T22:03:12.5+01:00, a blank for the T, a comma for the dot, no colon
	// in the offset, no offset, no fraction, or the date alone.
	DateTimeText
	// 22:03:12.5, a time of the day 1970-01-01.
	ClockText

	// What else DateTimeText, and where it applies ClockText, may look like.

	CompactText       // 20261129T220312, 20261129220312: no dashes, no colons, no T
	SurroundingBlanks // blanks and tabs around, line ends behind
	LowerCase         // t and z
	MinutesText       // 22:03, without seconds
	LeapSecond        // 23:59:60, the first second of the next minute
	ShortOffset       // +01, and a blank before an offset or Z
	ShortHour         // 9:03:12, and several blanks for the T
	WideOffset        // up to 24:60, as Go's time.Parse has it, instead of 23:59
)

// TimeReader reads values as instants. It allocates nothing, keeps no reference
// to what it reads, and is safe for concurrent use while nobody changes it.
type TimeReader struct {
	Accept  TimeForms
	Zone    *time.Location // whose local time a text without offset is
	Longest int            // bytes of a text, without SurroundingBlanks; a longer one is no time
}

// instantLimit bounds the seconds of an instant on both sides of 1970, to some
// 35,000 years: a count of them in any unit down to microseconds fits an int64.
const instantLimit = 1 << 40

// Read reads the value at the beginning of raw. offset is by how many seconds
// the clock of the value was ahead of UTC: what a text says or, if it says
// nothing, that of Zone; 0 for what is no text. ok is false if the value is no
// time in an accepted form; t is then unset.
func (r *TimeReader) Read(raw []byte) (t Time, offset int, ok bool) {
	switch h, _ := readHead(raw); h.kind {
	case KindExt:
		t, ok = Timestamp(raw)
	case KindInt, KindUint:
		if v, natural := Uint(raw); natural && r.Accept&NumbersBySize != 0 {
			t, ok = countedBySize(v, 0), true
		}
	case KindFloat32, KindFloat64:
		f, _ := Float(raw)
		switch {
		case r.Accept&NumbersBySize != 0:
			t, ok = floatBySize(f)
		case r.Accept&FloatSeconds != 0:
			t, ok = floatSeconds(f)
		}
	case KindString:
		return readTimeText(r, raw[h.start:h.start+h.size])
	case KindBin:
		if r.Accept&BinText != 0 {
			return readTimeText(r, raw[h.start:h.start+h.size])
		}
	}
	return t, 0, ok
}

// ReadText is Read for the content of a string.
func (r *TimeReader) ReadText(s string) (t Time, offset int, ok bool) {
	return readTimeText(r, s)
}

// Timestamp returns the instant of a value that msgpack has a type for: Fluent
// Bit's EventTime (ext 0: seconds and nanoseconds, 32 bits each) or msgpack's
// timestamp (ext -1, in the three lengths of its specification).
func Timestamp(raw []byte) (t Time, ok bool) {
	typ, data, _ := Ext(raw)
	switch {
	case typ == 0 && len(data) == 8:
		t.Sec, t.Nsec = eventTime(data)
	case typ == -1 && len(data) == 4:
		t.Sec = int64(binary.BigEndian.Uint32(data))
	case typ == -1 && len(data) == 8:
		n := binary.BigEndian.Uint64(data)
		t.Sec, t.Nsec = int64(n&(1<<34-1)), uint32(n>>34)
	case typ == -1 && len(data) == 12:
		t.Sec, t.Nsec = int64(binary.BigEndian.Uint64(data[4:])), binary.BigEndian.Uint32(data)
	default:
		return t, false
	}
	if t.Nsec >= 1e9 || t.Sec <= -instantLimit || t.Sec >= instantLimit {
		return Time{}, false
	}
	t.Set = true
	return t, true
}

// eventTime splits the eight bytes of an EventTime.
func eventTime(data []byte) (sec int64, nsec uint32) {
	return int64(binary.BigEndian.Uint32(data)), binary.BigEndian.Uint32(data[4:])
}

// AppendTimestamp appends what Timestamp reads as t, or nil if t is unset:
// msgpack's timestamp of 96 bits, since an EventTime begins in 1970 and ends in
// 2106.
func AppendTimestamp(dst []byte, t Time) []byte {
	if !t.Set {
		return append(dst, 0xc0)
	}
	dst = append(dst, 0xc7, 12, 0xff)
	dst = binary.BigEndian.AppendUint32(dst, t.Nsec)
	return binary.BigEndian.AppendUint64(dst, uint64(t.Sec))
}

// The smallest numbers that are milliseconds, microseconds and nanoseconds. As
// seconds the first is the year 5138; as milliseconds it is March 1973, so that
// only counts in those units from before are misread.
const (
	smallestMillis = 1e11
	smallestMicros = 1e14
	smallestNanos  = 1e17
)

// nanosPerUnit is the length of the unit that a number of this size counts.
func nanosPerUnit(v uint64) uint64 {
	switch {
	case v < smallestMillis:
		return 1e9
	case v < smallestMicros:
		return 1e6
	case v < smallestNanos:
		return 1e3
	}
	return 1
}

// countedBySize reads v units and a fraction of a unit in billionths.
func countedBySize(v, billionths uint64) Time {
	unit := nanosPerUnit(v)
	perSecond := 1e9 / unit
	return Time{Sec: int64(v / perSecond), Nsec: uint32(v%perSecond*unit + billionths*unit/1e9), Set: true}
}

func floatBySize(f float64) (Time, bool) {
	if !(f >= 0 && f < 1<<63) { // NaN is neither
		return Time{}, false
	}
	return floatSeconds(f / float64(1e9/nanosPerUnit(uint64(f))))
}

// floatSeconds cuts off parts of a nanosecond, towards the past.
func floatSeconds(f float64) (Time, bool) {
	if !(math.Abs(f) < instantLimit) {
		return Time{}, false
	}
	whole := math.Floor(f)
	return Time{Sec: int64(whole), Nsec: uint32(min((f-whole)*1e9, 999999999)), Set: true}, true
}
