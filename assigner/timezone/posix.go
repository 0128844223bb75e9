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
	if !p.zone() || p.rest != "" && !p.summer() {
		return nil, fmt.Errorf("%q is %w", text, ErrZone)
	}
	loc, err := time.LoadLocationFromTZData(text, tzif(text))
	if err != nil {
		return nil, fmt.Errorf("%q is %w: %w", text, ErrZone, err)
	}
	if name, _ := time.Unix(0, 0).In(loc).Zone(); name == unread {
		return nil, fmt.Errorf("%q is %w", text, ErrZone)
	}
	return loc, nil
}

// unread is what the zone of tzif is called where package time can't read its
// rule: no zone of POSIX's has so short a name.
const unread = "?"

// tzif is a file in the format TZif (RFC 9636) of which nothing but the footer
// counts: a zone without transitions, whose rule is the text. Package time
// applies it to every instant.
func tzif(text string) []byte {
	header := append([]byte("TZif2"), make([]byte, 15)...)
	b := append(header, make([]byte, 6*4)...) // the block of version 1 is empty
	b = append(b, header...)
	for _, n := range [6]int{4: 1, 5: len(unread) + 1} { // one type, and its name
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	b = append(b, 0, 0, 0, 0) // its offset
	b = append(b, 0, 0)       // it isn't summer time, and its name is the first
	b = append(append(b, unread...), 0)
	return append(append(append(b, '\n'), text...), '\n')
}

// posix reads a text from left to right, to know that it is of the form. What
// follows is in rest.
type posix struct{ rest string }

// zone reads the name of a zone and its offset.
func (p *posix) zone() bool { return p.name() && p.time(24) }

// summer reads all that stands behind the offset of standard time.
func (p *posix) summer() bool {
	if !p.name() || p.rest != "" && p.rest[0] != ',' && !p.time(24) {
		return false
	}
	if p.rest == "" {
		return true
	}
	begins := p.rule()
	ends := begins && p.rule()
	return ends && p.rest == ""
}

func (p *posix) name() bool {
	n := 0
	if strings.HasPrefix(p.rest, "<") {
		for n++; n < len(p.rest) && (isLetter(p.rest[n]) || isDigit(p.rest[n]) || p.rest[n] == '+' || p.rest[n] == '-'); n++ {
		}
		if n < len("<xxx") || n == len(p.rest) || p.rest[n] != '>' {
			return false
		}
		p.take(n + 1)
		return true
	}
	for n < len(p.rest) && isLetter(p.rest[n]) {
		n++
	}
	p.take(n)
	return n >= 3
}

func (p *posix) take(n int) { p.rest = p.rest[n:] }

func (p *posix) skip(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// number reads up to so many digits, whose value is from least to most.
func (p *posix) number(digits, least, most int) bool {
	n, v := 0, 0
	for n < len(p.rest) && n < digits && isDigit(p.rest[n]) {
		v = v*10 + int(p.rest[n]-'0')
		n++
	}
	p.take(n)
	return n > 0 && least <= v && v <= most
}

// time reads [+-]h[:mm[:ss]] of at most so many hours.
func (p *posix) time(hours int) bool {
	if !p.skip('-') {
		p.skip('+')
	}
	if !p.number(3, 0, hours) {
		return false
	}
	for range 2 {
		if p.skip(':') && !p.number(2, 0, 59) {
			return false
		}
	}
	return true
}

// rule reads a comma, the day of a change, and its time.
func (p *posix) rule() (ok bool) {
	if !p.skip(',') {
		return false
	}
	switch {
	case p.skip('J'):
		ok = p.number(3, 1, 365)
	case p.skip('M'):
		ok = p.number(2, 1, 12) && p.skip('.') && p.number(1, 1, 5) && p.skip('.') && p.number(1, 0, 6)
	default:
		ok = p.number(3, 0, 365)
	}
	return ok && (!p.skip('/') || p.time(167))
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
