package timepattern

import "strings"

// ParseStrftime compiles a pattern of strftime conversions with the C locale's
// names: those of POSIX but for c r x X n t and the modifiers E and O, glibc's
// k l P s and its flags - _ 0 ^ and width, N for nanoseconds (a width cuts it,
// 3N is milliseconds), and Fluent Bit's L for milliseconds. The error is a
// *SyntaxError.
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

// What may stand between '%' and a conversion's letter.
const (
	flags     = "-_0^123456789"
	modifiers = "EO"
)

// ConversionLen returns how many bytes of s, which starts with '%', are its
// first conversion, at most len(s). It says nothing about its validity.
func ConversionLen(s string) int {
	i := 1
	for i < len(s) && strings.IndexByte(flags+modifiers, s[i]) >= 0 {
		i++
	}
	return min(i+1, len(s))
}

// conversion compiles the conversion at offset and returns its length.
func (b *builder) conversion(offset int) (int, error) {
	text := b.p.source[offset:]
	text = text[:ConversionLen(text)]
	c := text[len(text)-1]
	if len(text) < 2 || strings.IndexByte(flags, c) >= 0 {
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

// spec is a conversion's flags and width.
type spec struct {
	pad      byte // '0', ' ', or 0 for the conversion's own
	unpadded bool
	upper    bool
	width    int
}

func parseSpec(text string) (s spec, reason string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == 'E' || c == 'O':
			return s, "the modifiers E and O change nothing in the C locale; leave them out"
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

// refusedConversion says why a conversion of POSIX is refused, "" if it isn't.
func refusedConversion(c byte) string {
	switch c {
	case 'c', 'r', 'x', 'X':
		return "its form is the locale's; use %F for the date and %H-%M-%S for the time"
	case 'n', 't':
		return "no folder has a line feed or tab in its name; leave it out"
	}
	return ""
}

// convert adds what the letter means, or says why it is refused.
func (b *builder) convert(c byte, s spec) string {
	if reason := refusedConversion(c); reason != "" {
		return reason
	}
	o := conversions[c]
	switch {
	case o.kind == opNumber:
		if s.upper {
			return "the flag ^ is for names"
		}
		s.fit(&o)
	case o.kind == opName || o.kind == opZoneAbbrev:
		if s.width > 0 || s.pad != 0 || s.unpadded {
			return "names aren't padded"
		}
		o.upper = s.upper
	case c == 'N':
		if s.pad != 0 || s.unpadded || s.upper {
			return "only a width may go with it"
		}
		if s.width > 9 {
			return "a second's fraction has at most nine digits"
		}
		if s.width > 0 {
			o.width = s.width
		}
	case s != spec{}:
		return "no flags and no width are allowed here"
	case o.kind == opLiteral && o.text == "":
		return b.composite(composite(c))
	}
	b.add(o)
	return ""
}

// fit applies flags to a number. As in glibc, a given width replaces a smaller
// one of the conversion's own, and '-' removes all padding.
func (s spec) fit(o *op) {
	if s.pad != 0 {
		o.pad = s.pad
	}
	o.width = max(s.width, o.width)
	if s.unpadded {
		o.pad = 0
	}
}

// conversions are the letters that mean one op.
var conversions = [128]op{
	'C': number(fieldCentury, 2, '0'),
	'd': number(fieldDay, 2, '0'),
	'e': number(fieldDay, 2, ' '),
	'g': number(fieldWeekYear2, 2, '0'),
	'G': number(fieldWeekYear, 4, '0'),
	'H': number(fieldHour, 2, '0'),
	'I': number(fieldHour12, 2, '0'),
	'j': number(fieldDayOfYear, 3, '0'),
	'k': number(fieldHour, 2, ' '),
	'l': number(fieldHour12, 2, ' '),
	'm': number(fieldMonth, 2, '0'),
	'M': number(fieldMinute, 2, '0'),
	's': number(fieldEpoch, 1, '0'),
	'S': number(fieldSecond, 2, '0'),
	'u': number(fieldWeekdayMonday, 1, '0'),
	'U': number(fieldSundayWeek, 2, '0'),
	'V': number(fieldWeek, 2, '0'),
	'w': number(fieldWeekdaySunday, 1, '0'),
	'W': number(fieldMondayWeek, 2, '0'),
	'y': number(fieldYear2, 2, '0'),
	'Y': number(fieldYear, 4, '0'),
	'L': {kind: opFraction, width: 3},
	'N': {kind: opFraction, width: 9},
	'a': named(fieldWeekdayMonday, shortened(weekdayNames)),
	'A': named(fieldWeekdayMonday, weekdayNames),
	'b': named(fieldMonth, shortened(monthNames)),
	'h': named(fieldMonth, shortened(monthNames)),
	'B': named(fieldMonth, monthNames),
	'p': named(fieldAMPM, []string{"AM", "PM"}),
	'P': named(fieldAMPM, []string{"am", "pm"}),
	'z': {kind: opOffset, style: offsetStyle{minutes: true}},
	'Z': {kind: opZoneAbbrev},
	'%': {kind: opLiteral, text: "%"},
}

// composite is the pattern that a letter stands for, "" if it stands for none.
func composite(c byte) string {
	switch c {
	case 'D':
		return "%m/%d/%y"
	case 'F':
		return "%Y-%m-%d"
	case 'R':
		return "%H:%M"
	case 'T':
		return "%H:%M:%S"
	}
	return ""
}

func (b *builder) composite(pattern string) string {
	if pattern == "" {
		return "no such conversion; write %% for a percent sign"
	}
	p, err := ParseStrftime(pattern)
	if err != nil {
		return err.Error()
	}
	for _, o := range p.ops {
		b.add(o)
	}
	return ""
}
