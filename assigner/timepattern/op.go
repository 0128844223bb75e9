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
	names  []string // opName, indexed by the field's value less its least
	style  offsetStyle
}

func (o *op) append(dst []byte, t time.Time) []byte {
	start := len(dst)
	switch o.kind {
	case opLiteral:
		return append(dst, o.text...)
	case opNumber:
		return o.appendNumber(dst, o.field.value(t))
	case opName:
		dst = append(dst, o.names[o.field.value(t)-o.field.least()]...)
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
		return o.field.unit()
	case opFraction:
		return unitNone
	}
	return unitForever
}

// maxLen bounds the op's output in bytes for the years 0 to 9999; names of
// zones are left to the caller, who knows the zone.
func (o *op) maxLen() int {
	switch o.kind {
	case opLiteral:
		return len(o.text)
	case opNumber:
		return max(o.width, o.field.digits()) + 1 // and a sign
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
