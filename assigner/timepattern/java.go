package timepattern

import "strings"

// English names as the JDK's CLDR data has them.
func monthNames() []string {
	return []string{"January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December"}
}

func weekdayNames() []string { // from Monday
	return []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
}

// cut returns the names' first n letters.
func cut(names []string, n int) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = s[:n]
	}
	return out
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
	}
	return ""
}

// ParseJava compiles a pattern of Java's DateTimeFormatter letters. It accepts
// G u y Q q M L D d g E a K k H h m s S A n N V Z X x O, quoting and optional
// sections, with Java's rules for the number of letters. The error is a
// *SyntaxError.
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

// javaOp is what n letters c mean, or why they are refused.
func javaOp(c byte, n int) (op, string) {
	if reason := refusedLetter(c); reason != "" {
		return op{}, reason
	}
	const many = "too many of the letter"
	switch c {
	case 'u', 'y', 'g', 'A', 'n', 'N':
		if n > 19 {
			return op{}, many
		}
		return javaWide(c, n), ""
	case 'd', 'h', 'H', 'k', 'K', 'm', 's':
		if n > 2 {
			return op{}, many
		}
		return number(javaField(c), n), ""
	case 'D':
		if n > 3 {
			return op{}, many
		}
		return number(fieldDayOfYear, n), ""
	case 'S':
		if n > 9 {
			return op{}, "a second's fraction has at most nine digits"
		}
		return op{kind: opFraction, width: n}, ""
	case 'a':
		if n > 1 {
			return op{}, many
		}
		return named(fieldAMPM, []string{"AM", "PM"}), ""
	case 'G', 'Q', 'q', 'M', 'L', 'E':
		if n > 5 {
			return op{}, many
		}
		return javaText(c, n), ""
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

// javaWide are the numbers whose width is open.
func javaWide(c byte, n int) op {
	o := number(javaField(c), n)
	if c == 'u' || c == 'y' {
		if n == 2 {
			return number(fieldYear2, 2)
		}
		o.exceed = n >= 4 && n < 19
	}
	return o
}

func javaField(c byte) field {
	switch c {
	case 'u':
		return fieldYear
	case 'y':
		return fieldYearOfEra
	case 'g':
		return fieldJulianDay
	case 'A':
		return fieldMilliOfDay
	case 'n':
		return fieldNano
	case 'N':
		return fieldNanoOfDay
	case 'd':
		return fieldDay
	case 'h':
		return fieldHour12
	case 'H':
		return fieldHour
	case 'k':
		return fieldHour24
	case 'K':
		return fieldHour011
	case 'm':
		return fieldMinute
	}
	return fieldSecond
}

// javaText are the fields that are numbers, short, full or narrow names.
func javaText(c byte, n int) op {
	switch c {
	case 'G':
		return named(fieldEra, [][]string{{"BC", "AD"}, {"Before Christ", "Anno Domini"}, {"B", "A"}}[max(n, 3)-3])
	case 'E':
		return named(fieldWeekdayMonday, javaStyle(weekdayNames(), max(n, 3)))
	case 'Q', 'q':
		switch n {
		case 1, 2:
			return number(fieldQuarter, n)
		case 3:
			return named(fieldQuarter, []string{"Q1", "Q2", "Q3", "Q4"})
		case 4:
			return named(fieldQuarter, []string{"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"})
		}
		return number(fieldQuarter, 1)
	}
	if n <= 2 {
		return number(fieldMonth, n)
	}
	return named(fieldMonth, javaStyle(monthNames(), n))
}

func javaStyle(names []string, n int) []string {
	switch n {
	case 3:
		return cut(names, 3)
	case 4:
		return names
	}
	return cut(names, 1)
}

func javaOffset(c byte, n int) (op, string) {
	switch {
	case c == 'O' && n != 1 && n != 4:
		return op{}, "the offset from GMT takes one letter or four"
	case n > 5:
		return op{}, "too many of the letter"
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

func number(f field, width int) op {
	return op{kind: opNumber, field: f, width: width, pad: '0'}
}

func named(f field, names []string) op {
	return op{kind: opName, field: f, names: names}
}
