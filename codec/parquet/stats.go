package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// bounds are the least and the greatest value of a column in a row group. They
// let readers leave out whole row groups, so a false one loses rows: in doubt
// there are none.
type bounds struct {
	set bool
	// invalid is set by a NaN: engines don't agree on where it sorts.
	invalid  bool
	low      int64
	high     int64
	lowF     float64
	highF    float64
	lowText  []byte
	highText []byte
}

func (b *bounds) reset() {
	*b = bounds{lowText: b.lowText[:0], highText: b.highText[:0]}
}

func (b *bounds) integer(v int64) {
	if !b.set {
		b.set, b.low, b.high = true, v, v
		return
	}
	if v < b.low {
		b.low = v
	}
	if v > b.high {
		b.high = v
	}
}

func (b *bounds) float(v float64) {
	switch {
	case v != v:
		b.invalid = true
	case !b.set:
		b.set, b.lowF, b.highF = true, v, v
	case v < b.lowF:
		b.lowF = v
	case v > b.highF:
		b.highF = v
	}
}

func (b *bounds) text(v []byte) {
	switch {
	case !b.set:
		b.set = true
		b.lowText, b.highText = append(b.lowText[:0], v...), append(b.highText[:0], v...)
	case bytes.Compare(v, b.lowText) < 0:
		b.lowText = append(b.lowText[:0], v...)
	case bytes.Compare(v, b.highText) > 0:
		b.highText = append(b.highText[:0], v...)
	}
}

// longestBound is what a text's bound is cut to, in bytes.
const longestBound = 64

// describe sets the bounds in Statistics (parquet.thrift): max_value
// and min_value, and whether they are values of the column.
func (b *bounds) describe(s *statistics, l *leaf) {
	if !b.set || b.invalid {
		return
	}
	var low, high [8]byte
	size := 8
	exactLow, exactHigh := true, true
	switch l.physical {
	case physicalBoolean:
		low[0], high[0], size = byte(b.low), byte(b.high), 1
	case physicalInt32:
		binary.LittleEndian.PutUint32(low[:], uint32(b.low))
		binary.LittleEndian.PutUint32(high[:], uint32(b.high))
		size = 4
	case physicalInt64:
		binary.LittleEndian.PutUint64(low[:], uint64(b.low))
		binary.LittleEndian.PutUint64(high[:], uint64(b.high))
	case physicalFloat:
		binary.LittleEndian.PutUint32(low[:], math.Float32bits(float32(signedZero(b.lowF, -1))))
		binary.LittleEndian.PutUint32(high[:], math.Float32bits(float32(signedZero(b.highF, 1))))
		size = 4
	case physicalDouble:
		binary.LittleEndian.PutUint64(low[:], math.Float64bits(signedZero(b.lowF, -1)))
		binary.LittleEndian.PutUint64(high[:], math.Float64bits(signedZero(b.highF, 1)))
	case physicalByteArray:
		least, greatest := cutLow(b.lowText), b.highText
		exactLow = len(least) == len(b.lowText)
		if len(greatest) > longestBound {
			if greatest = cutHigh(greatest, l.isUTF8()); greatest == nil {
				return
			}
			exactHigh = false
		}
		s.set(least, greatest, exactLow, exactHigh)
		return
	default: // a decimal's bytes sort by their sign: no bounds
		return
	}
	s.set(low[:size], high[:size], exactLow, exactHigh)
}

func (s *statistics) set(low, high []byte, exactLow, exactHigh bool) {
	s.Min, s.Max = thrift.New(low), thrift.New(high)
	s.MinExact, s.MaxExact = thrift.New(exactLow), thrift.New(exactHigh)
}

// signedZero makes a bound of zero hold both zeros.
func signedZero(v, sign float64) float64 {
	if v == 0 {
		return math.Copysign(0, sign)
	}
	return v
}

// cutLow shortens a least value to a beginning of it, which is less.
func cutLow(v []byte) []byte {
	if len(v) <= longestBound {
		return v
	}
	return wholeRunes(v[:longestBound])
}

// wholeRunes cuts off the beginning of a character at the end.
func wholeRunes(v []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(v); i++ {
		if utf8.RuneStart(v[len(v)-i]) {
			if !utf8.FullRune(v[len(v)-i:]) {
				return v[:len(v)-i]
			}
			break
		}
	}
	return v
}

// cutHigh shortens a greatest value to a text that is greater than all that
// begin with it: a beginning whose last character is the next one. nil if there
// is none. In UTF-8 texts sort as their code points do.
func cutHigh(v []byte, text bool) []byte {
	v = bytes.Clone(v[:longestBound])
	if !text {
		for ; len(v) > 0; v = v[:len(v)-1] {
			if last := len(v) - 1; v[last] < 0xff {
				v[last]++
				return v
			}
		}
		return nil
	}
	for v = wholeRunes(v); len(v) > 0; {
		r, n := utf8.DecodeLastRune(v)
		v = v[:len(v)-n]
		next := r + 1
		if next == 0xd800 {
			next = 0xe000
		}
		if next <= utf8.MaxRune {
			return utf8.AppendRune(v, next)
		}
	}
	return nil
}
