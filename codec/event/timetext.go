package event

import (
	"math"
	"strconv"
	"time"
)

// readTimeText reads a text as a time, in any of the forms of docs/times.md.
func readTimeText[T string | []byte](r *TimeReader, s T, near int64) (t Time, offset int, ok bool) {
	s = trimBlanks(s)
	if len(s) == 0 || len(s) > longestTime {
		return Time{}, 0, false
	}
	if n, isNumber := numberIn(s); isNumber {
		if t, ok = r.number(n, near); !ok {
			return Time{}, 0, false
		}
		return t, r.Offset(t), true
	}
	// No loop over the three, which would put x on the heap.
	x := timeText[T]{s: s}
	if m, ok := x.dateTime(); ok && x.at == len(s) {
		return r.instant(m, near)
	}
	x.at = 0
	if m, ok := x.dayFirst(); ok && x.at == len(s) {
		return r.instant(m, near)
	}
	x.at = 0
	if m, ok := x.monthFirst(); ok && x.at == len(s) {
		return r.instant(m, near)
	}
	return Time{}, 0, false
}

func trimBlanks[T string | []byte](s T) T {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t' || s[0] == '\n' || s[0] == '\r') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t' || s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}

// numberIn reads all of s as a decimal number: digits with or without a sign and
// a fraction, or a float with an exponent. Of a fraction nine digits count.
func numberIn[T string | []byte](s T) (n number, ok bool) {
	x := timeText[T]{s: s}
	n.negative = x.skip('-', '-')
	if !n.negative {
		x.skip('+', '+')
	}
	for ; ; n.digits++ {
		d, ok := x.digit()
		if !ok {
			break
		}
		if n.whole > (math.MaxUint64-d)/10 {
			return number{}, false
		}
		n.whole = n.whole*10 + d
	}
	if n.digits > 0 && x.skip('.', '.') {
		n.point = true
		if n.billionths, ok = x.fraction(); !ok {
			return number{}, false
		}
	}
	n.date = x.at == len(s) && s[0] != '+'
	switch {
	case n.digits == 0:
		return number{}, false
	case x.at == len(s):
		return n, true
	case !x.skip('e', 'E'):
		return number{}, false
	}
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil {
		return number{}, false
	}
	return numberOf(f)
}

// moment is what a text says of a time.
type moment struct {
	year       int // of the era; see yearless and shortYear
	month, day int
	yearless   bool // the year is the arrival's, or one beside it
	shortYear  bool // the year has two digits
	clock      clock
	zone       zone
}

// clock is a time of day.
type clock struct {
	seconds int // 0 to 86400: 24:00 and a leap second are the next day's
	nsec    uint32
	minutes bool // minutes are there
	colons  bool // before the minutes
}

// zone is what a text says of its zone. The zero value is nothing.
type zone struct {
	offset int  // seconds ahead of UTC
	zoned  bool // there is an offset
	name   zoneName
}

// zoneName is an abbreviation instead of an offset, such as CET; none is empty.
type zoneName struct {
	letters [5]byte
	n       int
}

func (z *zoneName) is(name string) bool { return string(z.letters[:z.n]) == name }

// instant is the instant of m.
func (r *TimeReader) instant(m moment, near int64) (t Time, offset int, ok bool) {
	switch {
	case m.yearless:
		return r.nearestYear(m, near)
	case m.shortYear:
		// RFC 9110, section 5.6.7, for RFC 850's dates: the century is the one that
		// doesn't put it more than 50 years into the future.
		this := time.Unix(near, 0).UTC().Year()
		if m.year += this - this%100; m.year > this+50 {
			m.year -= 100
		}
	}
	if m.year < 1 || m.day > daysIn(m.year, m.month) {
		return Time{}, 0, false
	}
	if m.zone.zoned {
		at := time.Date(m.year, time.Month(m.month), m.day, 0, 0, m.clock.seconds, 0, time.UTC)
		t = Time{Sec: at.Unix() - int64(m.zone.offset), Nsec: m.clock.nsec, Set: true}
		offset = m.zone.offset
	} else {
		at := time.Date(m.year, time.Month(m.month), m.day, 0, 0, m.clock.seconds, 0, r.zone())
		if m.zone.name.n > 0 {
			if at, ok = m.zone.name.local(at); !ok {
				return Time{}, 0, false
			}
		}
		_, offset = at.Zone()
		t = Time{Sec: at.Unix(), Nsec: m.clock.nsec, Set: true}
	}
	if !t.inRange() {
		return Time{}, 0, false
	}
	return t, offset, true
}

// nearestYear is the instant of m in the year in which it is nearest to the
// arrival: a December that arrives in January is last year's.
func (r *TimeReader) nearestYear(m moment, near int64) (t Time, offset int, ok bool) {
	m.yearless = false
	this := time.Unix(near, 0).In(r.zone()).Year()
	for m.year = this - 1; m.year <= this+1; m.year++ {
		at, o, found := r.instant(m, near)
		if found && (!ok || distance(at.Sec, near) < distance(t.Sec, near)) {
			t, offset, ok = at, o, true
		}
	}
	return t, offset, ok
}

// local is the local time at if its zone is called so then. In the hour that
// comes twice the name says which is meant.
func (z *zoneName) local(at time.Time) (time.Time, bool) {
	for _, shift := range [...]time.Duration{0, time.Hour, -time.Hour} {
		other := at.Add(shift)
		if is, _ := other.Zone(); z.is(is) && other.Hour() == at.Hour() && other.Day() == at.Day() {
			return other, true
		}
	}
	return at, false
}

// timeText reads a text from left to right, never beyond its end.
type timeText[T string | []byte] struct {
	s  T
	at int
}

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

// blanks steps over blanks, and reports whether there were any.
func (x *timeText[T]) blanks() bool {
	from := x.at
	for x.skip(' ', ' ') {
	}
	return x.at > from
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

// run is how many digits come next.
func (x *timeText[T]) run() (n int) {
	for i := x.at; i < len(x.s) && x.s[i] >= '0' && x.s[i] <= '9'; i++ {
		n++
	}
	return n
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

// dateTime reads a date of ISO 8601, with or without a time and a zone: in
// the basic form (20260305T060708Z, also without the T) or the extended one, by
// month and day, by week (2026-W10-4) or by day of the year (2026-064). Slashes
// may stand for the dashes, and blanks for the T.
func (x *timeText[T]) dateTime() (m moment, ok bool) {
	extended, ok := x.date(&m)
	if !ok || x.at == len(x.s) {
		return m, ok
	}
	if !x.skip('T', 't') && !x.blanks() && extended {
		return m, false
	}
	if m.clock, ok = x.clock(); !ok {
		return m, false
	}
	m.zone, ok = x.zone()
	return m, ok
}

func (x *timeText[T]) date(m *moment) (extended, ok bool) {
	width := 4
	if x.skip('+', '+') { // ISO 8601's expanded years, as Java writes them
		width = 6
	}
	if m.year, ok = x.number(width); !ok {
		return false, false
	}
	separator := x.peek()
	if extended = x.skip('-', '/'); !extended && width == 6 {
		return false, false
	}
	switch run := x.run(); {
	case separator != '/' && x.skip('W', 'w'):
		return extended, x.week(m, extended)
	case separator != '/' && run == 3:
		day, _ := x.number(3)
		return extended, m.dayOfYear(day)
	case extended && run == 2:
		m.month, _ = x.number(2)
		if x.at == len(x.s) && separator == '-' { // a month: its first day
			m.day = 1
			return true, m.valid()
		}
		if !x.skip(separator, separator) {
			return true, false
		}
		m.day, ok = x.number(2)
		return true, ok && m.valid()
	case !extended && run >= 4:
		m.month, _ = x.number(2)
		m.day, ok = x.number(2)
		return false, ok && m.valid()
	}
	return extended, false
}

func (m *moment) valid() bool {
	return m.month >= 1 && m.month <= 12 && m.day >= 1 && m.day <= daysIn(m.year, m.month)
}

// week reads ww-D or ww, wwD or ww: a week of ISO 8601, and its day, Monday if
// there is none.
func (x *timeText[T]) week(m *moment, extended bool) bool {
	week, ok := x.number(2)
	if !ok || week < 1 || week > 53 {
		return false
	}
	day := 1
	if extended && x.skip('-', '-') || !extended && x.run() > 0 {
		if day, ok = x.number(1); !ok || day < 1 || day > 7 {
			return false
		}
	}
	// January 4 is always in week 1.
	fourth := time.Date(m.year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := 4 - (int(fourth.Weekday())+6)%7
	at := time.Date(m.year, 1, monday+7*(week-1)+day-1, 0, 0, 0, 0, time.UTC)
	if y, w := at.ISOWeek(); y != m.year || w != week {
		return false // the year has no week 53
	}
	m.year, m.month, m.day = at.Year(), int(at.Month()), at.Day()
	return true
}

func (m *moment) dayOfYear(day int) bool {
	at := time.Date(m.year, 1, day, 0, 0, 0, 0, time.UTC)
	if day < 1 || at.Year() != m.year {
		return false
	}
	m.month, m.day = int(at.Month()), at.Day()
	return true
}

// clock reads hh, hh:mm or hh:mm:ss, also without colons; the last of them may
// have a fraction. The hour may have one digit before a colon.
func (x *timeText[T]) clock() (c clock, ok bool) {
	width := 2
	if x.run() == 1 && x.at+1 < len(x.s) && x.s[x.at+1] == ':' {
		width = 1
	}
	hour, ok := x.number(width)
	if !ok || hour > 24 {
		return c, false
	}
	minute, second, unit := 0, 0, 3600
	colons := x.skip(':', ':')
	c.colons = colons
	if colons || x.run() > 0 {
		c.minutes, unit = true, 60
		if minute, ok = x.number(2); !ok || minute > 59 {
			return c, false
		}
		if colons && x.skip(':', ':') || !colons && x.run() > 0 {
			unit = 1
			if second, ok = x.number(2); !ok || second > 60 {
				return c, false
			}
		}
	}
	c.seconds = hour*3600 + minute*60 + second
	if x.skip('.', ',') {
		billionths, ok := x.fraction()
		if !ok {
			return c, false
		}
		billionths *= uint64(unit)
		c.seconds += int(billionths / 1e9)
		c.nsec = uint32(billionths % 1e9)
	}
	return c, hour < 24 || c.seconds == secondsOfDay && c.nsec == 0
}

func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}
