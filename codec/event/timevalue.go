package event

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
)

// TimeReader reads values as instants: in the value that names a bucket, in
// typed columns, wherever a record's value means a time. docs/times.md has the
// table of what it takes, which is that of its test. It allocates nothing,
// keeps no reference to what it reads, and is safe for concurrent use while
// nobody changes it.
//
// A number is Unix time in the unit that its size suggests (see unitOf), or a
// date in digits: whichever is nearer to the arrival. The same digits mean the
// same in an integer, a float64 and a text. A float32 is never a date.
type TimeReader struct {
	Zone *time.Location // whose local time a text without offset is; nil is UTC
	// Unit is what a whole number in a text counts, as in a typed column. 0 goes by
	// its size. A number with a fraction and a float then are seconds.
	Unit time.Duration
}

// longestTime is how many bytes a time in text has at most, without blanks
// around it. The longest known form is JavaScript's, with the zone's full name.
const longestTime = 80

// Read reads the value at the beginning of raw. near is the arrival, in Unix
// seconds: it decides where a value can be read in two ways, and gives a time
// without a year its year. offset is by how many seconds the clock of the value
// was ahead of UTC: what a text says or, if it says nothing, that of Zone. ok is
// false if the value is no time within the years 1 to 9999; t is then unset.
func (r *TimeReader) Read(raw []byte, near int64) (t Time, offset int, ok bool) {
	switch h, _ := readHead(raw); h.kind {
	case KindExt:
		t, ok = Timestamp(raw)
	case KindInt, KindUint:
		t, ok = r.number(integerOf(raw, h.kind), near)
	case KindFloat32, KindFloat64:
		f, _ := Float(raw)
		n, finite := numberOf(f)
		n.date = n.date && h.kind == KindFloat64
		if r.Unit != 0 {
			t, ok = n.seconds(), finite
		} else if finite {
			t, ok = r.number(n, near)
		}
	case KindString, KindBin:
		return readTimeText(r, raw[h.start:h.start+h.size], near)
	}
	if !ok || !t.inRange() {
		return Time{}, 0, false
	}
	return t, r.Offset(t), true
}

// ReadText is Read for the content of a string.
func (r *TimeReader) ReadText(s string, near int64) (t Time, offset int, ok bool) {
	return readTimeText(r, s, near)
}

// ReadClock reads a text as a time of day: hh:mm, with seconds and a fraction or
// without, as its instant on 1970-01-01. Without colons it begins with a T: digits
// alone would be a number. 24:00 and a leap second are none.
func (r *TimeReader) ReadClock(raw []byte) (t Time, ok bool) {
	s, isText := Text(raw)
	if s = trimBlanks(s); !isText || len(s) > longestTime || len(s) < len("15:04") {
		return Time{}, false
	}
	x := timeText[[]byte]{s: s}
	designated := x.skip('T', 't')
	c, ok := x.clock()
	if !ok || x.at != len(s) || !c.minutes || !c.colons && !designated || c.seconds >= secondsOfDay {
		return Time{}, false
	}
	return Time{Sec: int64(c.seconds), Nsec: c.nsec, Set: true}, true
}

// Offset is by how many seconds the clocks of Zone are ahead of UTC at t.
func (r *TimeReader) Offset(t Time) int {
	if r.Zone == nil || r.Zone == time.UTC {
		return 0
	}
	_, offset := time.Unix(t.Sec, 0).In(r.Zone).Zone()
	return offset
}

func (r *TimeReader) zone() *time.Location {
	if r.Zone == nil {
		return time.UTC
	}
	return r.Zone
}

const secondsOfDay = 86400

// The range of an instant: the years that readers of ISO 8601, Avro and Parquet
// take. PyArrow, Polars and fastavro refuse a whole file for a value beyond it.
const (
	MinSec = -62135596800 // 0001-01-01T00:00:00Z
	MaxSec = 253402300799 // 9999-12-31T23:59:59Z
)

func (t Time) inRange() bool { return t.Sec >= MinSec && t.Sec <= MaxSec }

// instantLimit bounds the seconds of msgpack's timestamp on both sides of 1970:
// a count of them in any unit down to microseconds fits an int64.
const instantLimit = 1 << 40

// Timestamp returns the instant of a value that msgpack has a type for: Fluent
// Bit's EventTime (ext 0: seconds and nanoseconds, 32 bits each) or msgpack's
// timestamp (ext -1, in the three lengths of its specification). Nanoseconds of
// a second and more, which some senders write, count on into the seconds.
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
	if t.Sec <= -instantLimit || t.Sec >= instantLimit {
		return Time{}, false
	}
	return t.carried(), true
}

// carried is t, set, with less than a second of nanoseconds.
func (t Time) carried() Time {
	return Time{Sec: t.Sec + int64(t.Nsec/1e9), Nsec: t.Nsec % 1e9, Set: true}
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

// number is a number that may be a time.
type number struct {
	negative   bool
	whole      uint64
	billionths uint64 // the fraction
	digits     int    // of whole, with the zeros that a text has before it
	date       bool   // its digits may be a date
	point      bool   // it is a float, or a text with a fraction or an exponent
}

// integerOf is the integer that raw begins with.
func integerOf(raw []byte, kind Kind) number {
	v := integer(raw)
	n := number{whole: v, date: true}
	if kind == KindInt && int64(v) < 0 {
		n.negative, n.whole = true, -v
	}
	n.digits = digitsOf(n.whole)
	return n
}

func digitsOf(v uint64) (digits int) {
	for digits = 1; v >= 10; v /= 10 {
		digits++
	}
	return digits
}

// numberOf is a float as the shortest decimal that reads back as it, rounded to
// billionths: 1772690828.789 is 789 milliseconds, as it is in a text. It has no
// number for what isn't finite, and beyond 10^19.
func numberOf(f float64) (n number, ok bool) {
	n = number{negative: f < 0, date: true, point: true}
	f = math.Abs(f)
	switch {
	case !(f < 1e19): // NaN too
		return number{}, false
	case f < 1e-10:
		return number{digits: 1, point: true}, true
	}
	var buf [64]byte
	scale := uint64(1e9)
	fraction := false
	for _, c := range strconv.AppendFloat(buf[:0], f, 'f', -1, 64) {
		switch {
		case c == '.':
			fraction = true
		case !fraction:
			n.whole = n.whole*10 + uint64(c-'0')
		case scale > 1:
			scale /= 10
			n.billionths += uint64(c-'0') * scale
		case scale == 1:
			scale = 0
			if c >= '5' {
				n.billionths++
			}
		}
	}
	if n.billionths >= 1e9 {
		n.whole, n.billionths = n.whole+1, 0
	}
	n.digits = digitsOf(n.whole)
	return n, true
}

// The smallest numbers that are milliseconds, microseconds and nanoseconds. As
// seconds the first is the year 5138; as milliseconds it is March 1973, so that
// only counts in those units from before are misread.
const (
	smallestMillis = 1e11
	smallestMicros = 1e14
	smallestNanos  = 1e17
)

// unitOf is the length in nanoseconds of the unit that a number of this size
// counts.
func unitOf(v uint64) uint64 {
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

// number reads n as Unix time, or as a date in digits if that is nearer.
func (r *TimeReader) number(n number, near int64) (t Time, ok bool) {
	switch {
	case r.Unit == 0:
		t = n.counted(unitOf(n.whole))
	case n.point:
		t = n.seconds()
	default:
		t = n.counted(uint64(r.Unit))
	}
	date, isDate := r.dateInDigits(n, near)
	if isDate && (!t.inRange() || distance(date.Sec, near) < distance(t.Sec, near)) {
		t = date
	}
	return t, t.inRange()
}

func distance(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}

func (n number) seconds() Time { return n.counted(1e9) }

// counted reads n units of so many nanoseconds. What no reader takes is far out
// of range.
func (n number) counted(unit uint64) Time {
	t := Time{Set: true}
	if unit >= 1e9 {
		perUnit := unit / 1e9
		if n.whole > math.MaxInt64/2/perUnit {
			return Time{Sec: math.MaxInt64, Set: true}
		}
		t.Sec = int64(n.whole * perUnit)
		t.Nsec = uint32(n.billionths)
	} else {
		perSecond := 1e9 / unit
		t.Sec = int64(n.whole / perSecond)
		t.Nsec = uint32(n.whole%perSecond*unit + n.billionths*unit/1e9)
	}
	if n.negative {
		if t.Sec = -t.Sec; t.Nsec > 0 {
			t.Sec, t.Nsec = t.Sec-1, 1e9-t.Nsec
		}
	}
	return t
}

// dateInDigits reads the digits of n as yyyyDDD, yyyyMMdd, yyyyMMddHH,
// yyyyMMddHHmm, yyyyMMddHHmmss or yyyyMMddHHmmssSSS of the zone.
func (r *TimeReader) dateInDigits(n number, near int64) (t Time, ok bool) {
	switch n.digits {
	case 7, 8, 10, 12, 14, 17:
	default:
		return t, false
	}
	if !n.date || n.negative || n.billionths > 0 && n.digits != 14 {
		return t, false
	}
	var digits [17]byte
	v := n.whole
	for i := n.digits - 1; i >= 0; i-- {
		digits[i], v = byte('0'+v%10), v/10
	}
	x := timeText[[]byte]{s: digits[:min(n.digits, 14)]}
	m, ok := x.dateTime()
	if !ok || x.at != len(x.s) {
		return t, false
	}
	m.clock.nsec = uint32(n.billionths)
	if n.digits == 17 {
		m.clock.nsec = uint32(n.whole%1000) * 1e6
	}
	t, _, ok = r.instant(m, near)
	return t, ok
}
