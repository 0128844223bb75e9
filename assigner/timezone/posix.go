package timezone

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// Posix returns the zone that POSIX's form of TZ describes, for all of time:
//
//	std offset [dst [offset] [,start[/time],end[/time]]]
//
// A name has letters, three at least, or in angle brackets also digits and
// signs. An offset is what is added to local time to get UTC, so it is positive
// west of Greenwich: [+-]h[h][:mm[:ss]], up to 24 hours. A rule is Jn, n or
// Mm.w.d; its time may be up to 167 hours before or after midnight (RFC 9636,
// section 3.3.2). Without rules summer is that of the United States, as in
// glibc.
func Posix(text string) (*time.Location, error) {
	p := posix{rest: text}
	name, offset, ok := p.zone()
	if !ok || p.rest != "" && !p.summer() {
		return nil, fmt.Errorf("%q is %w", text, ErrZone)
	}
	loc, err := time.LoadLocationFromTZData(text, tzif(name, offset, text))
	if err != nil {
		return nil, fmt.Errorf("%q is %w: %w", text, ErrZone, err)
	}
	return loc, nil
}

// tzif is a file in the format TZif (RFC 9636) of which nothing but the footer
// counts: a zone without transitions, whose rule is the text. Package time
// applies it to every instant.
func tzif(name string, offset int, text string) []byte {
	header := append([]byte("TZif2"), make([]byte, 15)...)
	b := append(header, make([]byte, 6*4)...) // the block of version 1 is empty
	b = append(b, header...)
	for _, n := range [6]int{4: 1, 5: len(name) + 1} { // one type, and its name
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(int32(offset)))
	b = append(b, 0, 0) // it isn't summer time, and its name is the first
	b = append(append(b, name...), 0)
	return append(append(append(b, '\n'), text...), '\n')
}

// posix reads a text from left to right. What follows is in rest.
type posix struct{ rest string }

// zone reads the name of a zone and its offset, in seconds ahead of UTC.
func (p *posix) zone() (name string, offset int, ok bool) {
	if name, ok = p.name(); !ok {
		return "", 0, false
	}
	offset, ok = p.time(24)
	return name, -offset, ok
}

// summer reads all that stands behind the offset of standard time.
func (p *posix) summer() bool {
	if _, ok := p.name(); !ok {
		return false
	}
	if p.rest != "" && p.rest[0] != ',' {
		if _, ok := p.time(24); !ok {
			return false
		}
	}
	if p.rest == "" {
		return true
	}
	return p.rule() && p.rule() && p.rest == ""
}

func (p *posix) name() (string, bool) {
	n := 0
	if strings.HasPrefix(p.rest, "<") {
		for n++; n < len(p.rest) && (isLetter(p.rest[n]) || isDigit(p.rest[n]) || p.rest[n] == '+' || p.rest[n] == '-'); n++ {
		}
		if n < len("<xxx") || n == len(p.rest) || p.rest[n] != '>' {
			return "", false
		}
		return p.take(n + 1)[1:n], true
	}
	for n < len(p.rest) && isLetter(p.rest[n]) {
		n++
	}
	return p.take(n), n >= 3
}

func (p *posix) take(n int) (s string) {
	s, p.rest = p.rest[:n], p.rest[n:]
	return s
}

func (p *posix) skip(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// number reads up to so many digits, whose value is at most most.
func (p *posix) number(digits, least, most int) (v int, ok bool) {
	n := 0
	for n < len(p.rest) && n < digits && isDigit(p.rest[n]) {
		v = v*10 + int(p.rest[n]-'0')
		n++
	}
	p.take(n)
	return v, n > 0 && least <= v && v <= most
}

// time reads [+-]h[:mm[:ss]] of at most so many hours, in seconds.
func (p *posix) time(hours int) (seconds int, ok bool) {
	negative := p.skip('-')
	if !negative {
		p.skip('+')
	}
	if seconds, ok = p.number(3, 0, hours); !ok {
		return 0, false
	}
	seconds *= 3600
	for _, unit := range [2]int{60, 1} {
		if !p.skip(':') {
			break
		}
		n, ok := p.number(2, 0, 59)
		if !ok {
			return 0, false
		}
		seconds += n * unit
	}
	if negative {
		seconds = -seconds
	}
	return seconds, true
}

// rule reads a comma, the day of a change, and its time.
func (p *posix) rule() (ok bool) {
	if !p.skip(',') {
		return false
	}
	switch {
	case p.skip('J'):
		_, ok = p.number(3, 1, 365)
	case p.skip('M'):
		if _, ok = p.number(2, 1, 12); ok && p.skip('.') {
			if _, ok = p.number(1, 1, 5); ok && p.skip('.') {
				_, ok = p.number(1, 0, 6)
				break
			}
		}
		ok = false
	default:
		_, ok = p.number(3, 0, 365)
	}
	if ok && p.skip('/') {
		_, ok = p.time(167)
	}
	return ok
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
