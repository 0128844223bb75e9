package timepattern

import (
	"strconv"
	"time"
)

type opKind uint8

const (
	opLiteral    opKind = iota
	opNumber            // field, padded to width
	opName              // one of the names in the table, by field
	opFraction          // the first width digits of the second's fraction
	opOffset            // the offset from UTC in a style
	opZoneID            // the location's name
	opZoneAbbrev        // the location's abbreviation at the instant
)

// op is one step of a pattern's program.
type op struct {
	kind   opKind
	field  field
	width  int
	pad    byte // what fills up to width; 0 means that nothing does
	exceed bool // Java's SignStyle.EXCEEDS_PAD: a '+' before a number wider than width
	upper  bool
	text   string   // opLiteral
	names  []string // opName, the field's smallest value first
	style  offsetStyle
}

func number(f field, width int, pad byte) op {
	return op{kind: opNumber, field: f, width: width, pad: pad}
}

func named(f field, names []string) op {
	return op{kind: opName, field: f, names: names}
}

func (o *op) append(dst []byte, t time.Time) []byte {
	start := len(dst)
	switch o.kind {
	case opLiteral:
		return append(dst, o.text...)
	case opNumber:
		return o.appendNumber(dst, o.field.value(t))
	case opName:
		dst = append(dst, o.names[o.field.value(t)-o.field.firstNamed()]...)
	case opFraction:
		return appendPadded(dst, int64(t.Nanosecond())/pow10(9-o.width), o.width, '0')
	case opOffset:
		_, seconds := t.Zone()
		return o.style.append(dst, seconds)
	case opZoneID:
		return append(dst, t.Location().String()...)
	case opZoneAbbrev:
		name, _ := t.Zone()
		dst = append(dst, name...)
	}
	if o.upper {
		upperASCII(dst[start:])
	}
	return dst
}

// unit is the finest unit of time that the op's output depends on. The zone
// needs none, since a span never reaches over a zone transition.
func (o *op) unit() unit {
	switch o.kind {
	case opNumber, opName:
		return fields[o.field].unit
	case opFraction:
		return unitNone
	}
	return unitForever
}

// maxLen is the op's longest output in bytes in the years 1970 to 9999; names
// of zones are left to the caller, who knows the zone.
func (o *op) maxLen() int {
	switch o.kind {
	case opLiteral:
		return len(o.text)
	case opNumber:
		return max(o.width, fields[o.field].digits) + 1 // and a sign
	case opName:
		longest := 0
		for _, n := range o.names {
			longest = max(longest, len(n))
		}
		return longest
	case opFraction:
		return o.width
	case opOffset:
		return len("GMT+hh:mm:ss")
	}
	return 0
}

func (o *op) appendNumber(dst []byte, v int64) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	} else if o.exceed && v >= pow10(o.width) {
		dst = append(dst, '+')
	}
	return appendPadded(dst, v, o.width, o.pad)
}

func appendPadded(dst []byte, v int64, width int, pad byte) []byte {
	var digits [20]byte
	s := strconv.AppendInt(digits[:0], v, 10)
	if pad != 0 {
		for n := len(s); n < width; n++ {
			dst = append(dst, pad)
		}
	}
	return append(dst, s...)
}

// pow10 is 10 to the n, or the largest int64 if that is smaller.
func pow10(n int) int64 {
	if n > 18 {
		return 1<<63 - 1
	}
	v := int64(1)
	for ; n > 0; n-- {
		v *= 10
	}
	return v
}

func upperASCII(b []byte) {
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
}

// offsetStyle is a way to write an offset from UTC.
type offsetStyle struct {
	zero      string // what is written for UTC itself; "" if it has no form of its own
	prefix    string
	colon     bool
	shortHour bool // without leading zero
	minutes   bool // even when they are zero
	seconds   bool // when they aren't zero
}

func (s offsetStyle) append(dst []byte, offset int) []byte {
	if offset == 0 && s.zero != "" {
		return append(dst, s.zero...)
	}
	start := len(dst)
	dst = append(dst, s.prefix...)
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	hour, minute, second := offset/3600, offset/60%60, offset%60
	dst = append(dst, sign)
	if hour >= 10 || !s.shortHour {
		dst = append(dst, byte('0'+hour/10%10))
	}
	dst = append(dst, byte('0'+hour%10))
	writeSeconds := s.seconds && second != 0
	shown := hour
	if s.minutes || minute != 0 || writeSeconds {
		dst = s.appendTwo(dst, minute)
		shown += minute
	}
	if writeSeconds {
		dst = s.appendTwo(dst, second)
		shown += second
	}
	if shown == 0 && s.zero != "" { // an offset of seconds that the style doesn't show
		return append(dst[:start], s.zero...)
	}
	return dst
}

func (s offsetStyle) appendTwo(dst []byte, v int) []byte {
	if s.colon {
		dst = append(dst, ':')
	}
	return append(dst, byte('0'+v/10), byte('0'+v%10))
}
