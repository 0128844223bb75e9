package event

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendScalar appends the value at the beginning of raw as plain text and
// says what kind it is:
//
//	nil        null
//	bool       true, false
//	integers   decimal, exact
//	floats     as AppendFloat; NaN, Infinity and -Infinity as Java reads them
//	string     its text, each invalid byte as U+FFFD
//	bin        its text if it is valid UTF-8, else BinMark and its base64
//	ext        BinMark and the base64 of its data alone
//
// A text that begins with BinMark is BinMark and its base64 too, so that nothing
// but bytes looks like them.
// For arrays, maps and KindInvalid dst comes back as it was.
func AppendScalar(dst, raw []byte) ([]byte, Kind) {
	h, ok := readHead(raw)
	if !ok {
		return dst, KindInvalid
	}
	payload := raw[h.start:]
	switch h.kind {
	case KindNil:
		dst = append(dst, "null"...)
	case KindBool:
		dst = strconv.AppendBool(dst, raw[0] == 0xc3)
	case KindInt:
		dst = strconv.AppendInt(dst, int64(integer(raw)), 10)
	case KindUint:
		dst = strconv.AppendUint(dst, integer(raw), 10)
	case KindFloat32:
		f, _ := Float(raw)
		dst = AppendFloat(dst, f, 32)
	case KindFloat64:
		f, _ := Float(raw)
		dst = AppendFloat(dst, f, 64)
	case KindString:
		if HasBinMark(payload[:h.size]) {
			return AppendBin(dst, payload[:h.size]), h.kind
		}
		dst = AppendValidUTF8(dst, payload[:h.size])
	case KindBin:
		if s := payload[:h.size]; utf8.Valid(s) && !HasBinMark(s) {
			return append(dst, s...), h.kind
		}
		dst = AppendBin(dst, payload[:h.size])
	case KindExt:
		dst = AppendBin(dst, payload[:h.size])
	}
	return dst, h.kind
}

// BinMark is what bytes that are no text begin with where they stand as text:
// that of a data URL (RFC 2397). Their base64 with padding follows. Whatever
// begins with it is read back by decoding the rest.
const BinMark = "data:;base64,"

// HasBinMark reports whether a text begins with BinMark.
func HasBinMark(s []byte) bool {
	return len(s) >= len(BinMark) && s[0] == BinMark[0] && string(s[:len(BinMark)]) == BinMark
}

// AppendBin appends bytes as a text that says that they are none.
func AppendBin(dst, b []byte) []byte {
	return base64.StdEncoding.AppendEncode(append(dst, BinMark...), b)
}

// AppendFloat appends the shortest decimal text that reads back as f, of the
// given bits (32 or 64), in JSON's number grammar: 0.1, 1.0, 1e+21. A whole
// number keeps its ".0", as in Fluent Bit's own JSON, so that a reader that
// infers types sees one type in a column. What JSON has no number for is
// NaN, Infinity or -Infinity.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	abs := math.Abs(f)
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case abs > math.MaxFloat64:
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	case abs < 1<<24 && f == math.Trunc(f) && (f != 0 || !math.Signbit(f)):
		return append(strconv.AppendInt(dst, int64(f), 10), ".0"...)
	case bits == 64 && abs < 1e9:
		// Most floats in logs are short decimals. n/1e6 is rounded correctly, so if
		// it is f, n's digits read back as f, and no others of up to 15 digits do.
		if n := math.Round(abs * 1e6); n/1e6 == abs && f != 0 {
			return appendMillionths(dst, f < 0, uint64(n))
		}
	}
	format := byte('f')
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, format, -1, bits)
	if format == 'e' {
		return dst
	}
	for _, c := range dst[from:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// appendMillionths appends n/1e6, which isn't whole.
func appendMillionths(dst []byte, negative bool, n uint64) []byte {
	if negative {
		dst = append(dst, '-')
	}
	whole, rest := n/1e6, n%1e6
	dst = append(strconv.AppendUint(dst, whole, 10), '.')
	width := 6
	for rest%10 == 0 && width > 1 {
		rest, width = rest/10, width-1
	}
	from := len(dst)
	dst = append(dst, "000000"[:width]...)
	for i := from + width - 1; rest > 0; i-- {
		dst[i] = byte('0' + rest%10)
		rest /= 10
	}
	return dst
}

// AppendValidUTF8 appends s with U+FFFD for each byte that is no part of valid
// UTF-8.
func AppendValidUTF8(dst, s []byte) []byte {
	if utf8.Valid(s) {
		return append(dst, s...)
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}
