package eventtime

import "time"

// readText reads Unix time in digits, with or without a fraction, or an ISO
// 8601 time: 2026-11-29T22:03:12.5+01:00, also with a blank for the T, a comma
// for the dot, without separators, down to the minute, or the date alone. A
// time that says no zone is the local time of loc.
//
// Digits alone are Unix time, except that 8 or 14 digits are yyyyMMdd or
// yyyyMMddHHmmss if there is such a day and time: as Unix time they would be in
// the seventies or beyond 2286.
func readText[T string | []byte](s T, loc *time.Location) (sec int64, nsec uint32, ok bool) {
	r := reader[T]{s: trim(s)}
	if len(r.s) > len("+2026-11-29T22:03:12.123456789123456789 +01:00") {
		return 0, 0, false
	}
	if len(r.s) == 8 || len(r.s) == 14 {
		if sec, nsec, ok = r.iso(loc); ok {
			return sec, nsec, true
		}
		r.at = 0
	}
	if v, billionths, ok := r.count(); ok {
		sec, nsec = fromCount(v, billionths)
		return sec, nsec, true
	}
	r.at = 0
	return r.iso(loc)
}

func trim[T string | []byte](s T) T {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t' || s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}

// reader reads a text from left to right. It never reads beyond its end.
type reader[T string | []byte] struct {
	s  T
	at int
}

// peek is the next byte, 0 at the end.
func (r *reader[T]) peek() byte {
	if r.at == len(r.s) {
		return 0
	}
	return r.s[r.at]
}

// skip steps over the next byte if it is one of the two.
func (r *reader[T]) skip(a, b byte) bool {
	if c := r.peek(); c != 0 && (c == a || c == b) {
		r.at++
		return true
	}
	return false
}

func (r *reader[T]) digit() (d uint64, ok bool) {
	c := r.peek()
	if c < '0' || c > '9' {
		return 0, false
	}
	r.at++
	return uint64(c - '0'), true
}

// number reads exactly n digits.
func (r *reader[T]) number(n int) (v int, ok bool) {
	for range n {
		d, ok := r.digit()
		if !ok {
			return 0, false
		}
		v = v*10 + int(d)
	}
	return v, true
}

// fraction reads the digits behind a dot as billionths, cutting off more than
// nine.
func (r *reader[T]) fraction() (billionths uint64, ok bool) {
	n := 0
	for ; ; n++ {
		d, ok := r.digit()
		if !ok {
			break
		}
		if n < 9 {
			billionths = billionths*10 + d
		}
	}
	for i := n; i < 9; i++ {
		billionths *= 10
	}
	return billionths, n > 0
}

// count reads all of the text as digits with an optional fraction.
func (r *reader[T]) count() (v, billionths uint64, ok bool) {
	n := 0
	for ; ; n++ {
		d, ok := r.digit()
		if !ok {
			break
		}
		if n == 19 { // more than any nanosecond count within the years that count
			return 0, 0, false
		}
		v = v*10 + d
	}
	if n > 0 && r.peek() == '.' {
		r.at++
		if billionths, ok = r.fraction(); !ok {
			return 0, 0, false
		}
	}
	return v, billionths, n > 0 && r.at == len(r.s)
}

// iso reads all of the text as an ISO 8601 time.
func (r *reader[T]) iso(loc *time.Location) (sec int64, nsec uint32, ok bool) {
	year, ok1 := r.number(4)
	dashes := r.skip('-', '-')
	month, ok2 := r.number(2)
	if dashes && !r.skip('-', '-') {
		return 0, 0, false
	}
	day, ok3 := r.number(2)
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, 0, false
	}
	var clock int
	if r.at < len(r.s) {
		if !r.skip('T', 't') && !r.skip(' ', ' ') && dashes {
			return 0, 0, false
		}
		if clock, nsec, ok = r.clock(); !ok {
			return 0, 0, false
		}
	}
	offset, zoned, ok := r.zone()
	if !ok || r.at != len(r.s) {
		return 0, 0, false
	}
	if zoned {
		loc = time.UTC
	}
	t := time.Date(year, time.Month(month), day, 0, 0, clock, 0, loc)
	return t.Unix() - int64(offset), nsec, true
}

// clock reads hh:mm, hh:mm:ss or hh:mm:ss.f as seconds of the day; a leap
// second is the first second of the next minute.
func (r *reader[T]) clock() (seconds int, nsec uint32, ok bool) {
	hour, ok1 := r.number(2)
	colons := r.skip(':', ':')
	minute, ok2 := r.number(2)
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return 0, 0, false
	}
	seconds = hour*3600 + minute*60
	more := r.peek() >= '0' && r.peek() <= '9'
	if colons && r.peek() == ':' {
		r.at++
		more = true
	} else if colons && more {
		return 0, 0, false
	}
	if !more {
		return seconds, 0, true
	}
	second, ok := r.number(2)
	if !ok || second > 60 {
		return 0, 0, false
	}
	if r.skip('.', ',') {
		billionths, ok := r.fraction()
		if !ok {
			return 0, 0, false
		}
		nsec = uint32(billionths)
	}
	return seconds + second, nsec, true
}

// zone reads nothing, Z, or an offset as +hh, +hhmm or +hh:mm, with or without
// a blank before it. The offset is in seconds east of UTC.
func (r *reader[T]) zone() (offset int, zoned, ok bool) {
	r.skip(' ', ' ')
	if r.at == len(r.s) {
		return 0, false, true
	}
	if r.skip('Z', 'z') {
		return 0, true, true
	}
	west := r.peek() == '-'
	if !r.skip('+', '-') {
		return 0, false, false
	}
	hour, ok := r.number(2)
	minute := 0
	if ok && r.at < len(r.s) {
		r.skip(':', ':')
		minute, ok = r.number(2)
	}
	if !ok || hour > 23 || minute > 59 {
		return 0, false, false
	}
	if offset = hour*3600 + minute*60; west {
		offset = -offset
	}
	return offset, true, true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
