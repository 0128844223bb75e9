package event

import "time"

// readTimeText reads a text as a time in one of the forms that r accepts.
func readTimeText[T string | []byte](r *TimeReader, s T) (t Time, offset int, ok bool) {
	if r.Accept&SurroundingBlanks != 0 {
		s = trimBlanks(s)
	}
	if len(s) > r.Longest {
		return Time{}, 0, false
	}
	text := timeText[T]{s: s, accept: r.Accept}
	if r.Accept&CompactText != 0 && (len(s) == len("yyyyMMdd") || len(s) == len("yyyyMMddHHmmss")) {
		// As Unix time these digits would be in the seventies or beyond 2286.
		if t, offset, ok = text.dateTime(r.Zone); ok {
			return t, offset, true
		}
		text.at = 0
	}
	if r.Accept&NumbersBySize != 0 {
		if v, billionths, ok := text.count(); ok {
			return countedBySize(v, billionths), 0, true
		}
		text.at = 0
	}
	if r.Accept&DateTimeText != 0 {
		if t, offset, ok = text.dateTime(r.Zone); ok {
			return t, offset, true
		}
		text.at = 0
	}
	if r.Accept&ClockText != 0 && len(s) >= len("15:04:05") {
		if seconds, nsec, ok := text.clock(); ok && text.at == len(s) {
			return Time{Sec: int64(seconds), Nsec: nsec, Set: true}, 0, true
		}
	}
	return Time{}, 0, false
}

func trimBlanks[T string | []byte](s T) T {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t' || s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}

// timeText reads a text from left to right, never beyond its end.
type timeText[T string | []byte] struct {
	s      T
	at     int
	accept TimeForms
}

func (x *timeText[T]) accepts(f TimeForms) bool { return x.accept&f != 0 }

// peek is the next byte, 0 at the end.
func (x *timeText[T]) peek() byte {
	if x.at == len(x.s) {
		return 0
	}
	return x.s[x.at]
}

// skip steps over the next byte if it is one of the two.
func (x *timeText[T]) skip(a, b byte) bool {
	if c := x.peek(); c != 0 && (c == a || c == b) {
		x.at++
		return true
	}
	return false
}

// letter steps over an upper-case letter, or over its lower case if that is
// accepted.
func (x *timeText[T]) letter(upper byte) bool {
	lower := upper
	if x.accepts(LowerCase) {
		lower = upper + 'a' - 'A'
	}
	return x.skip(upper, lower)
}

// blanks steps over a blank, or over as many as there are if that is accepted.
func (x *timeText[T]) blanks() bool {
	if !x.skip(' ', ' ') {
		return false
	}
	for x.accepts(ShortHour) && x.skip(' ', ' ') {
	}
	return true
}

func (x *timeText[T]) digit() (d uint64, ok bool) {
	c := x.peek()
	if c < '0' || c > '9' {
		return 0, false
	}
	x.at++
	return uint64(c - '0'), true
}

// number reads exactly n digits.
func (x *timeText[T]) number(n int) (v int, ok bool) {
	for range n {
		d, ok := x.digit()
		if !ok {
			return 0, false
		}
		v = v*10 + int(d)
	}
	return v, true
}

// fraction reads the digits behind a dot as billionths, cutting off more than
// nine.
func (x *timeText[T]) fraction() (billionths uint64, ok bool) {
	n := 0
	for ; ; n++ {
		d, ok := x.digit()
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
func (x *timeText[T]) count() (v, billionths uint64, ok bool) {
	n := 0
	for ; ; n++ {
		d, ok := x.digit()
		if !ok {
			break
		}
		if n == 19 { // more than any nanosecond count of the years up to 9999
			return 0, 0, false
		}
		v = v*10 + d
	}
	if n > 0 && x.skip('.', '.') {
		if billionths, ok = x.fraction(); !ok {
			return 0, 0, false
		}
	}
	return v, billionths, n > 0 && x.at == len(x.s)
}

// dateTime reads all of the text as an ISO 8601 date with or without a time.
func (x *timeText[T]) dateTime(loc *time.Location) (t Time, offset int, ok bool) {
	year, ok1 := x.number(4)
	dashes := x.skip('-', '-')
	month, ok2 := x.number(2)
	if dashes && !x.skip('-', '-') || !dashes && !x.accepts(CompactText) {
		return t, 0, false
	}
	day, ok3 := x.number(2)
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return t, 0, false
	}
	seconds, zoned := 0, false
	if x.at < len(x.s) {
		if !x.letter('T') && !x.blanks() && dashes {
			return t, 0, false
		}
		if seconds, t.Nsec, ok = x.clock(); !ok {
			return Time{}, 0, false
		}
		if offset, zoned, ok = x.zone(); !ok || x.at != len(x.s) {
			return Time{}, 0, false
		}
	}
	if zoned {
		loc = time.UTC
	}
	at := time.Date(year, time.Month(month), day, 0, 0, seconds, 0, loc)
	if !zoned {
		_, offset = at.Zone()
		return Time{Sec: at.Unix(), Nsec: t.Nsec, Set: true}, offset, true
	}
	return Time{Sec: at.Unix() - int64(offset), Nsec: t.Nsec, Set: true}, offset, true
}

// clock reads a time of day as its second, from 0 to 86400, and the
// nanoseconds: hh:mm:ss, with or without a fraction.
func (x *timeText[T]) clock() (seconds int, nsec uint32, ok bool) {
	hour, ok := x.hour()
	if !ok || hour > 23 {
		return 0, 0, false
	}
	colons := x.skip(':', ':')
	minute, ok := x.number(2)
	if !ok || minute > 59 || !colons && !x.accepts(CompactText) {
		return 0, 0, false
	}
	seconds = hour*3600 + minute*60
	next := x.peek()
	if hasSeconds := colons && x.skip(':', ':') || !colons && next >= '0' && next <= '9'; !hasSeconds {
		return seconds, 0, x.accepts(MinutesText)
	}
	second, ok := x.number(2)
	if !ok || second > 60 || second == 60 && !x.accepts(LeapSecond) {
		return 0, 0, false
	}
	if x.skip('.', ',') {
		billionths, ok := x.fraction()
		if !ok {
			return 0, 0, false
		}
		nsec = uint32(billionths)
	}
	return seconds + second, nsec, true
}

// hour reads two digits, or one before a colon if that is accepted.
func (x *timeText[T]) hour() (hour int, ok bool) {
	if x.accepts(ShortHour) && x.at+1 < len(x.s) && x.s[x.at+1] == ':' {
		return x.number(1)
	}
	return x.number(2)
}

// zone reads nothing, Z, or an offset as +hhmm or +hh:mm, in seconds ahead of
// UTC.
func (x *timeText[T]) zone() (offset int, zoned, ok bool) {
	if x.accepts(ShortOffset) {
		x.skip(' ', ' ')
	}
	if x.at == len(x.s) {
		return 0, false, true
	}
	if x.letter('Z') {
		return 0, true, true
	}
	west := x.peek() == '-'
	if !x.skip('+', '-') {
		return 0, false, false
	}
	hour, ok := x.number(2)
	minute := 0
	if ok && (x.at < len(x.s) || !x.accepts(ShortOffset)) {
		x.skip(':', ':')
		minute, ok = x.number(2)
	}
	maxHours, maxMinutes := 23, 59
	if x.accepts(WideOffset) {
		maxHours, maxMinutes = 24, 60
	}
	if !ok || hour > maxHours || minute > maxMinutes {
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
