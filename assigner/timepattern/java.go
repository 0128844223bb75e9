package timepattern

import (
	"fmt"
	"strings"
)

// ParseJava compiles a pattern of Java's DateTimeFormatter letters. It accepts
// u y Q q M L D d E a h H m s S n V Z X x O, quoting and optional sections,
// with Java's rules for the number of letters. The error is a *SyntaxError.
func ParseJava(pattern string) (*Pattern, error) {
	b, err := newBuilder(pattern)
	if err != nil {
		return nil, err
	}
	depth := 0
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case isLetter(c):
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			o, reason := javaOp(c, n)
			if reason != "" {
				return nil, b.fail(i, "%s: %s", pattern[i:i+n], reason)
			}
			b.add(o)
			i += n
			continue
		case c == '\'':
			text, next, ok := quoted(pattern, i)
			if !ok {
				return nil, b.fail(i, "the quote is never closed; write '' for a quote itself")
			}
			b.literal(text)
			i = next
			continue
		case c == '[':
			depth++ // every field is known, so optional sections are always written
		case c == ']':
			if depth--; depth < 0 {
				return nil, b.fail(i, "] without [ before it; quote it to write it")
			}
		case c == '{' || c == '}' || c == '#':
			return nil, b.fail(i, "%c is reserved by Java; quote it to write it", c)
		default:
			b.literal(pattern[i : i+1])
		}
		i++
	}
	return b.p, nil
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// quoted reads the quoted text that starts at i. A doubled quote is a quote, inside
// quoted text and outside.
func quoted(pattern string, i int) (text string, next int, ok bool) {
	i++
	if i < len(pattern) && pattern[i] == '\'' {
		return "'", i + 1, true
	}
	var out strings.Builder
	for ; i < len(pattern); i++ {
		if pattern[i] != '\'' {
			out.WriteByte(pattern[i])
			continue
		}
		if i+1 < len(pattern) && pattern[i+1] == '\'' {
			out.WriteByte('\'')
			i++
			continue
		}
		return out.String(), i + 1, true
	}
	return "", 0, false
}

// refusedLetter says why a letter of DateTimeFormatter is refused, "" if it isn't.
func refusedLetter(c byte) string {
	switch c {
	case 'Y', 'w', 'W', 'e', 'c':
		return "its weeks depend on the locale; use y for the calendar year, or strftime's %G, %V and %u for ISO 8601 weeks"
	case 'B':
		return "day periods are text of a locale; use a"
	case 'F':
		return "its meaning changed with Java 19; use strftime's %V for a week"
	case 'z', 'v':
		return "zone names are text of a locale; use VV for the zone's id or xx for its offset"
	case 'p':
		return "it pads with blanks; repeat the letter to pad with zeros, as in HH"
	case 'G':
		return "all events are of one era; leave it out"
	case 'g':
		return "it counts days since 1858-11-17; use D for the day of the year"
	case 'k', 'K':
		return "it counts hours from 1 to 24 or from 0 to 11; use HH, or hh with a"
	case 'A', 'N':
		return "it counts from midnight; use HHmmss, with SSS for milliseconds or SSSSSSSSS for nanoseconds"
	}
	return ""
}

const tooMany = "too many of the letter"

// javaOp is what n letters c mean, or why they are refused.
func javaOp(c byte, n int) (op, string) {
	if reason := refusedLetter(c); reason != "" {
		return op{}, reason
	}
	if f, maxLetters := javaNumber(c); maxLetters > 0 {
		switch {
		case n > maxLetters:
			return op{}, tooMany
		case f == fieldYear && n == 2:
			f = fieldYear2
		}
		o := number(f, n, '0')
		o.exceed = f == fieldYear && n >= 4 && n < 19
		return o, ""
	}
	switch c {
	case 'S':
		if n > 9 {
			return op{}, "a second's fraction has at most nine digits"
		}
		return op{kind: opFraction, width: n}, ""
	case 'a':
		if n > 1 {
			return op{}, tooMany
		}
		return named(fieldAMPM, []string{"AM", "PM"}), ""
	case 'Q', 'q', 'M', 'L', 'E':
		return javaText(c, n)
	case 'V':
		if n != 2 {
			return op{}, "the zone's id takes exactly two letters"
		}
		return op{kind: opZoneID}, ""
	case 'X', 'x', 'Z', 'O':
		return javaOffset(c, n)
	}
	return op{}, "no such letter; quote text, as in 'T'"
}

// javaNumber is the field of a letter that is always a number, and how often the
// letter may stand; 0 if it isn't one.
func javaNumber(c byte) (f field, maxLetters int) {
	switch c {
	case 'u', 'y': // they differ before the year 1 only
		return fieldYear, 19
	case 'n':
		return fieldNano, 19
	case 'D':
		return fieldDayOfYear, 3
	case 'd':
		return fieldDay, 2
	case 'h':
		return fieldHour12, 2
	case 'H':
		return fieldHour, 2
	case 'm':
		return fieldMinute, 2
	case 's':
		return fieldSecond, 2
	}
	return 0, 0
}

// javaText are the fields that are numbers, short names or full names.
func javaText(c byte, n int) (op, string) {
	f, short, full := fieldMonth, shortened(monthNames), monthNames
	switch c {
	case 'Q', 'q':
		f, short, full = fieldQuarter, quarterShorts, quarterNames
	case 'E':
		f, short, full = fieldWeekdayMonday, shortened(weekdayNames), weekdayNames
		n = max(n, 3) // E and EE are EEE
	}
	switch {
	case n <= 2:
		return number(f, n, '0'), ""
	case n == 3:
		return named(f, short), ""
	case n == 4:
		return named(f, full), ""
	case n == 5:
		return op{}, fmt.Sprintf("narrow names don't tell all values apart; use %c%c%c", c, c, c)
	}
	return op{}, tooMany
}

func javaOffset(c byte, n int) (op, string) {
	switch {
	case c == 'O' && n != 1 && n != 4:
		return op{}, "the offset from GMT takes one letter or four"
	case n > 5:
		return op{}, tooMany
	}
	s := offsetStyle{minutes: true}
	switch {
	case c == 'O' || c == 'Z' && n == 4:
		s = offsetStyle{zero: "GMT", prefix: "GMT", colon: true, shortHour: n == 1, minutes: n == 4, seconds: true}
	case c == 'Z' && n < 4:
		s.zero = "+0000"
	default: // X, x, and ZZZZZ, which is XXXXX
		s.minutes = n > 1
		s.colon = n == 3 || n == 5
		s.seconds = n >= 4
		s.zero = "Z"
		if c == 'x' {
			s.zero = []string{"+00", "+0000", "+00:00", "+0000", "+00:00"}[n-1]
		}
	}
	return op{kind: opOffset, style: s}, ""
}
