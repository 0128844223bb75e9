package event

var months = [...]string{
	"january", "february", "march", "april", "may", "june",
	"july", "august", "september", "october", "november", "december",
}

var weekdays = [...]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// word steps over one of the words, whole or its first three letters, in any
// case, and returns its number from 1.
func (x *timeText[T]) word(words []string) (n int, ok bool) {
	end := x.at
	for end < len(x.s) && x.s[end]|0x20 >= 'a' && x.s[end]|0x20 <= 'z' {
		end++
	}
	text := x.s[x.at:end]
	for i, w := range words {
		if foldedEqual(text, w) || foldedEqual(text, w[:3]) {
			x.at = end
			return i + 1, true
		}
	}
	return 0, false
}

// foldedEqual compares letters with lower-case ones.
func foldedEqual[T string | []byte](s T, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		if s[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// weekday steps over the name of a day, and a comma, if they are there. Which day
// it says isn't looked at.
func (x *timeText[T]) weekday() {
	if _, ok := x.word(weekdays[:]); ok {
		x.skip(',', ',')
		x.blanks()
	}
}

// dayOfMonth reads one or two digits.
func (x *timeText[T]) dayOfMonth() (day int, ok bool) {
	if n := x.run(); n == 1 || n == 2 {
		return x.number(n)
	}
	return 0, false
}

// dayFirst reads what begins with the day of the month, or the weekday before
// it:
//
//	Thu, 05 Mar 2026 06:07:08 GMT     RFC 1123, RFC 5322
//	Thursday, 05-Mar-26 06:07:08 GMT  RFC 850
//	05/Mar/2026:06:07:08 +0100        Common Log Format, also in brackets
//	05-Mar-2026
func (x *timeText[T]) dayFirst() (m moment, ok bool) {
	bracket := x.skip('[', '[')
	x.weekday()
	if m.day, ok = x.dayOfMonth(); !ok {
		return m, false
	}
	separator := x.peek()
	if !x.skip('-', '/') && !x.blanks() {
		return m, false
	}
	if m.month, ok = x.word(months[:]); !ok || !x.skip(separator, separator) {
		return m, false
	}
	x.blanks()
	switch x.run() {
	case 4:
		m.year, _ = x.number(4)
	case 2:
		m.year, _ = x.number(2)
		m.shortYear = true
	default:
		return m, false
	}
	if x.skip(':', ':') || x.blanks() {
		if m.clock, ok = x.clock(); !ok {
			return m, false
		}
		if m.zone, ok = x.zone(); !ok {
			return m, false
		}
	}
	return m, m.day > 0 && (!bracket || x.skip(']', ']'))
}

// monthFirst reads what begins with the month, or the weekday before it:
//
//	Mar  5 06:07:08                          syslog, RFC 3164
//	Mar  5 2026 06:07:08                     syslog with a year
//	Thu Mar  5 06:07:08 2026                 asctime
//	Thu Mar  5 06:07:08 CET 2026             date(1)
//	Thu Mar  5 06:07:08 2026 +0100           git
//	Thu Mar 05 2026 06:07:08 GMT+0100 (CET)  JavaScript
func (x *timeText[T]) monthFirst() (m moment, ok bool) {
	x.weekday()
	if m.month, ok = x.word(months[:]); !ok || !x.blanks() {
		return m, false
	}
	if m.day, ok = x.dayOfMonth(); !ok || m.day == 0 {
		return m, false
	}
	x.skip(',', ',')
	if !x.blanks() {
		return m, false
	}
	m.yearless = !x.yearHere(&m)
	if !m.yearless && !x.blanks() {
		return m, x.at == len(x.s)
	}
	if m.clock, ok = x.clock(); !ok {
		return m, false
	}
	if m.yearless && x.yearBehind(&m) {
		m.yearless = false
	}
	if m.zone, ok = x.zone(); !ok {
		return m, false
	}
	if m.yearless && x.yearBehind(&m) {
		m.yearless = false
	}
	return m, true
}

func (x *timeText[T]) yearHere(m *moment) bool {
	if x.run() != 4 {
		return false
	}
	m.year, _ = x.number(4)
	return true
}

// yearBehind steps over blanks and a year, or over nothing.
func (x *timeText[T]) yearBehind(m *moment) bool {
	from := x.at
	if x.blanks() && x.yearHere(m) {
		return true
	}
	x.at = from
	return false
}

// zone reads what a text says of its zone, which may be nothing:
//
//	Z, UTC, GMT, UT           UTC, in any case
//	+01, +0100, +01:00        ahead of UTC, also behind UTC or GMT
//	CET                       a name, which must be that of the reader's zone
//
// Blanks may stand before it, and behind an offset a name, in brackets or
// without, which says nothing more.
func (x *timeText[T]) zone() (z zone, ok bool) {
	from := x.at
	x.blanks()
	if x.at == len(x.s) {
		return z, true
	}
	name := x.letters()
	switch {
	case foldedEqual(name, "z"):
		z.zoned = true
		return z, x.zoneName()
	case foldedEqual(name, "utc"), foldedEqual(name, "gmt"), foldedEqual(name, "ut"):
		z.zoned = true
		if c := x.peek(); c != '+' && c != '-' {
			return z, x.zoneName()
		}
	case len(name) > 0:
		z.name.n = copy(z.name.letters[:], name)
		return z, len(name) >= 3
	}
	west := x.peek() == '-'
	if !x.skip('+', '-') {
		if west = x.minus(); !west {
			x.at = from // a year, or what is none of a time
			return z, len(name) == 0
		}
	}
	hour, ok := x.number(2)
	minute := 0
	if ok && (x.skip(':', ':') || x.run() > 0) {
		minute, ok = x.number(2)
	}
	if !ok || hour > 23 || minute > 59 {
		return z, false
	}
	if z.offset = hour*3600 + minute*60; west {
		z.offset = -z.offset
	}
	z.zoned = true
	return z, x.zoneName()
}

// minus steps over U+2212, which ISO 8601 prefers to the hyphen.
func (x *timeText[T]) minus() bool {
	const sign = "\u2212"
	if len(x.s)-x.at < len(sign) || string(x.s[x.at:x.at+len(sign)]) != sign {
		return false
	}
	x.at += len(sign)
	return true
}

// letters steps over at most five ASCII letters and returns them.
func (x *timeText[T]) letters() T {
	from := x.at
	for x.at < len(x.s) && x.at-from < 5 && x.s[x.at]|0x20 >= 'a' && x.s[x.at]|0x20 <= 'z' {
		x.at++
	}
	return x.s[from:x.at]
}

// zoneName steps over the name of a zone behind its offset: [Europe/Berlin]
// (RFC 9557), (CET) as in RFC 5322's comments, or CET as Go writes it.
func (x *timeText[T]) zoneName() bool {
	from := x.at
	x.blanks()
	for _, pair := range [...][2]byte{{'[', ']'}, {'(', ')'}} {
		if x.skip(pair[0], pair[0]) {
			for x.at < len(x.s) && x.s[x.at] != pair[1] {
				x.at++
			}
			return x.skip(pair[1], pair[1])
		}
	}
	if x.at > from && len(x.letters()) > 0 {
		return true
	}
	x.at = from
	return true
}
