package convert

import (
	"bytes"
	"math/big"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Decimal converts to a Decimal's unscaled value, in big-endian two's
// complement: of a Fixed in its size, else in the fewest bytes. The value fits
// if it has no more digits than the type, before the point and behind it:
// nothing is rounded. A bin is the unscaled value as it stands. Lenient: a
// number in text.
func (c *Converter) Decimal(t *schema.Type, raw []byte) (b []byte, ok bool) {
	var text [64]byte
	var s []byte
	switch event.KindOf(raw) {
	case event.KindInt, event.KindUint:
		s, _ = event.AppendScalar(text[:0], raw)
	case event.KindFloat32, event.KindFloat64:
		if c.Rules == schema.Strict {
			return nil, false
		}
		s, _ = event.AppendScalar(text[:0], raw)
	case event.KindString:
		if c.Rules != schema.Lenient {
			return nil, false
		}
		s, _ = event.Text(raw)
	case event.KindBin:
		return c.unscaledBytes(t, raw)
	default:
		return nil, false
	}
	digits, negative, ok := unscaled(s, t.Precision, t.Scale)
	if !ok {
		return nil, false
	}
	return c.twosComplement(t, digits, negative)
}

// unscaledBytes takes a bin for what Avro has in its place: the unscaled value
// in big-endian two's complement.
func (c *Converter) unscaledBytes(t *schema.Type, raw []byte) (b []byte, ok bool) {
	b, _ = event.Text(raw)
	if len(b) == 0 || len(b) > schema.MaxDigits {
		return nil, false
	}
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	negative := n.Sign() < 0
	digits := n.Abs(n).String()
	if len(digits) > t.Precision {
		return nil, false
	}
	return c.twosComplement(t, []byte(digits), negative)
}

func (c *Converter) twosComplement(t *schema.Type, digits []byte, negative bool) (b []byte, ok bool) {
	from := len(c.arena)
	c.arena = appendTwos(c.arena, digits, negative)
	if t.Kind == schema.Fixed {
		n := len(c.arena) - from
		if n > t.Size {
			c.arena = c.arena[:from]
			return nil, false
		}
		sign := byte(0)
		if c.arena[from]&0x80 != 0 {
			sign = 0xff
		}
		for ; n < t.Size; n++ {
			c.arena = append(c.arena, 0)
			copy(c.arena[from+1:], c.arena[from:])
			c.arena[from] = sign
		}
	}
	return c.arena[from:len(c.arena):len(c.arena)], true
}

// unscaled returns the digits of the number in s times ten to the scale, if it
// has at most precision of them and nothing is left behind the point.
func unscaled(s []byte, precision, scale int) (digits []byte, negative, ok bool) {
	if len(s) == 0 || len(s) > longestNumber {
		return nil, false, false
	}
	if s[0] == '-' || s[0] == '+' {
		negative, s = s[0] == '-', s[1:]
	}
	exponent := 0
	if at := bytes.IndexAny(s, "eE"); at >= 0 {
		if exponent, ok = smallInt(s[at+1:]); !ok {
			return nil, false, false
		}
		s = s[:at]
	}
	whole, fraction, _ := bytes.Cut(s, []byte{'.'})
	digits = append(append(make([]byte, 0, len(s)+scale+8), whole...), fraction...)
	if len(digits) == 0 {
		return nil, false, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil, false, false
		}
	}
	digits = bytes.TrimLeft(digits, "0")
	if len(digits) == 0 {
		return []byte{'0'}, false, true
	}
	shift := exponent - len(fraction) + scale
	if len(digits)+shift > precision {
		return nil, false, false
	}
	for ; shift > 0; shift-- {
		digits = append(digits, '0')
	}
	for ; shift < 0; shift++ {
		last := len(digits) - 1
		if last < 0 || digits[last] != '0' {
			return nil, false, false
		}
		digits = digits[:last]
	}
	return digits, negative, len(digits) <= precision
}

// smallInt reads an exponent.
func smallInt(s []byte) (n int, ok bool) {
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	if len(s) == 0 || len(s) > 4 {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// appendTwos appends decimal digits in the fewest bytes of two's complement.
func appendTwos(dst, digits []byte, negative bool) []byte {
	n, ok := new(big.Int).SetString(string(digits), 10)
	if !ok || n.Sign() == 0 {
		return append(dst, 0)
	}
	if !negative {
		b := n.Bytes()
		if b[0]&0x80 != 0 {
			dst = append(dst, 0)
		}
		return append(dst, b...)
	}
	// -n is the complement of n-1.
	b := n.Sub(n, big.NewInt(1)).Bytes()
	if len(b) == 0 || b[0]&0x80 != 0 {
		dst = append(dst, 0xff)
	}
	for _, x := range b {
		dst = append(dst, ^x)
	}
	return dst
}
