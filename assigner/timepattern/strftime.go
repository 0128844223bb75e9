package timepattern

import "strings"

// ParseStrftime compiles a pattern of strftime conversions with the C locale's
// names: those of POSIX, glibc's k l P s and its flags - _ 0 ^ and width, the
// modifiers E and O, N for nanoseconds (a width cuts it, 3N is milliseconds),
// and Fluent Bit's L for milliseconds. The error is a *SyntaxError.
func ParseStrftime(pattern string) (*Pattern, error) {
	b, err := newBuilder(pattern)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(pattern); {
		if pattern[i] != '%' {
			end := strings.IndexByte(pattern[i:], '%')
			if end < 0 {
				end = len(pattern) - i
			}
			b.literal(pattern[i : i+end])
			i += end
			continue
		}
		n, err := b.conversion(i)
		if err != nil {
			return nil, err
		}
		i += n
	}
	return b.p, nil
}

// spec is a conversion's flags: what stands between '%' and its letter.
type spec struct {
	pad      byte // '0', ' ', 0 with unpadded, or 0 for the conversion's own
	unpadded bool
	upper    bool
	width    int
	modifier byte // 'E', 'O' or 0
}

// ConversionLen returns how many bytes of s, which starts with '%', are its
// first conversion, at most len(s). It says nothing about its validity.
func ConversionLen(s string) int {
	i := 1
	for i < len(s) && strings.IndexByte("-_0^123456789EO", s[i]) >= 0 {
		i++
	}
	return min(i+1, len(s))
}

// conversion compiles the conversion at offset and returns its length.
func (b *builder) conversion(offset int) (int, error) {
	text := b.p.source[offset:]
	text = text[:ConversionLen(text)]
	c := text[len(text)-1]
	if len(text) < 2 || strings.IndexByte("-_0^123456789", c) >= 0 {
		return 0, b.fail(offset, "%s ends without a conversion; write %%%% for a percent sign", text)
	}
	if c >= 0x80 {
		return 0, b.fail(offset, "no conversion follows %s; write %%%% for a percent sign", text[:len(text)-1])
	}
	s, reason := parseSpec(text[1 : len(text)-1])
	if reason == "" {
		reason = b.convert(c, s)
	}
	if reason != "" {
		return 0, b.fail(offset, "%s: %s", text, reason)
	}
	return len(text), nil
}

func parseSpec(flags string) (s spec, reason string) {
	for i := 0; i < len(flags); i++ {
		c := flags[i]
		switch {
		case s.modifier != 0:
			return s, "nothing may stand between a modifier and its conversion"
		case c == 'E' || c == 'O':
			s.modifier = c
		case c >= '1' && c <= '9' || c == '0' && s.width > 0:
			if s.width = s.width*10 + int(c-'0'); s.width > 19 {
				return s, "a width of more than 19"
			}
		case s.width > 0:
			return s, "flags come before the width"
		case c == '-':
			s.unpadded, s.pad = true, 0
		case c == '_':
			s.unpadded, s.pad = false, ' '
		case c == '0':
			s.unpadded, s.pad = false, '0'
		case c == '^':
			s.upper = true
		}
	}
	return s, ""
}

func (s spec) plain() bool { return s.pad == 0 && !s.unpadded && !s.upper && s.width == 0 }

// convert adds what the letter means, or says why it is refused.
func (b *builder) convert(c byte, s spec) string {
	switch s.modifier {
	case 'E':
		if strings.IndexByte("cCxXyY", c) < 0 {
			return "E goes with c C x X y Y only"
		}
	case 'O':
		if strings.IndexByte("deHIklmMSuUVwWy", c) < 0 {
			return "O goes with d e H I k l m M S u U V w W y only"
		}
	}
	if f, width, pad, ok := strftimeNumber(c); ok {
		if s.upper {
			return "the flag ^ is for names"
		}
		b.add(s.number(f, width, pad))
		return ""
	}
	if o, ok := strftimeName(c); ok {
		if s.width > 0 || s.pad != 0 || s.unpadded {
			return "names aren't padded"
		}
		o.upper = s.upper
		b.add(o)
		return ""
	}
	if c == 'N' {
		return b.nanoseconds(s)
	}
	if !s.plain() {
		return "no flags and no width are allowed here"
	}
	return b.convertPlain(c)
}

// number applies flags to a number. Like glibc, a width given wins over the
// conversion's own, and '-' over both.
func (s spec) number(f field, width int, pad byte) op {
	o := op{kind: opNumber, field: f, width: width, pad: pad}
	if s.pad != 0 {
		o.pad = s.pad
	}
	if s.width > 0 {
		o.width = max(s.width, width)
		if o.pad == 0 {
			o.pad = '0'
		}
	}
	if s.unpadded {
		o.pad = 0
	}
	return o
}

func (b *builder) nanoseconds(s spec) string {
	if s.pad != 0 || s.unpadded || s.upper {
		return "only a width may go with it"
	}
	if s.width > 9 {
		return "a second's fraction has at most nine digits"
	}
	if s.width == 0 {
		s.width = 9
	}
	b.add(op{kind: opFraction, width: s.width})
	return ""
}

func strftimeNumber(c byte) (f field, width int, pad byte, ok bool) {
	switch c {
	case 'C':
		return fieldCentury, 2, '0', true
	case 'd':
		return fieldDay, 2, '0', true
	case 'e':
		return fieldDay, 2, ' ', true
	case 'g':
		return fieldISOYear2, 2, '0', true
	case 'G':
		return fieldISOYear, 4, '0', true
	case 'H':
		return fieldHour, 2, '0', true
	case 'I':
		return fieldHour12, 2, '0', true
	case 'j':
		return fieldDayOfYear, 3, '0', true
	case 'k':
		return fieldHour, 2, ' ', true
	case 'l':
		return fieldHour12, 2, ' ', true
	case 'm':
		return fieldMonth, 2, '0', true
	case 'M':
		return fieldMinute, 2, '0', true
	case 's':
		return fieldEpoch, 1, '0', true
	case 'S':
		return fieldSecond, 2, '0', true
	case 'u':
		return fieldWeekdayMonday, 1, '0', true
	case 'U':
		return fieldSundayWeek, 2, '0', true
	case 'V':
		return fieldISOWeek, 2, '0', true
	case 'w':
		return fieldWeekdaySunday, 1, '0', true
	case 'W':
		return fieldMondayWeek, 2, '0', true
	case 'y':
		return fieldYear2, 2, '0', true
	case 'Y':
		return fieldYear, 4, '0', true
	}
	return 0, 0, 0, false
}

func strftimeName(c byte) (op, bool) {
	switch c {
	case 'a':
		return named(fieldWeekdayMonday, cut(weekdayNames(), 3)), true
	case 'A':
		return named(fieldWeekdayMonday, weekdayNames()), true
	case 'b', 'h':
		return named(fieldMonth, cut(monthNames(), 3)), true
	case 'B':
		return named(fieldMonth, monthNames()), true
	case 'p':
		return named(fieldAMPM, []string{"AM", "PM"}), true
	case 'P':
		return named(fieldAMPM, []string{"am", "pm"}), true
	case 'Z':
		return op{kind: opZoneAbbrev}, true
	}
	return op{}, false
}

// convertPlain adds what takes neither flag nor width.
func (b *builder) convertPlain(c byte) string {
	switch c {
	case '%':
		b.literal("%")
	case 'n':
		b.literal("\n")
	case 't':
		b.literal("\t")
	case 'L':
		b.add(op{kind: opFraction, width: 3})
	case 'z':
		b.add(op{kind: opOffset, style: offsetStyle{minutes: true}})
	case 'c':
		return b.composite("%a %b %e %H:%M:%S %Y")
	case 'D', 'x':
		return b.composite("%m/%d/%y")
	case 'F':
		return b.composite("%Y-%m-%d")
	case 'r':
		return b.composite("%I:%M:%S %p")
	case 'R':
		return b.composite("%H:%M")
	case 'T', 'X':
		return b.composite("%H:%M:%S")
	default:
		return "no such conversion; write %% for a percent sign"
	}
	return ""
}

func (b *builder) composite(pattern string) string {
	p, err := ParseStrftime(pattern)
	if err != nil {
		return err.Error()
	}
	for _, o := range p.ops {
		if o.kind == opLiteral {
			b.literal(o.text)
			continue
		}
		b.add(o)
	}
	return ""
}
