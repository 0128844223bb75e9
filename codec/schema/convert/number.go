package convert

import (
	"math"
	"strconv"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Long converts to an Int or Long, with its logical type if that isn't Decimal.
// A whole number is taken in the type's own unit. Lenient: a whole float, a
// number in text, and for a date or time its text or a float of seconds. What no
// reader of the type takes (schema.Type.InRange) doesn't fit.
func (c *Converter) Long(t *schema.Type, raw []byte) (v int64, ok bool) {
	v, ok = event.Int(raw)
	if !ok {
		if t.Logical == schema.None {
			v, ok = c.wholeNumber(raw)
		} else {
			v, ok = c.instant(t, raw)
		}
	}
	if !ok || !t.InRange(v) {
		return 0, false
	}
	return v, true
}

// wholeNumber reads what isn't an integer as one.
func (c *Converter) wholeNumber(raw []byte) (int64, bool) {
	if c.Rules != schema.Lenient {
		return 0, false
	}
	if f, ok := event.Float(raw); ok {
		return wholeFloat(f)
	}
	if s, ok := event.String(raw); ok {
		if len(s) <= longestNumber {
			v, err := strconv.ParseInt(string(s), 10, 64)
			return v, err == nil
		}
	}
	if at, ok := event.Timestamp(raw); ok {
		return at.Sec, true
	}
	return 0, false
}

// longestNumber is more than any number takes that a float64 tells apart.
const longestNumber = 400

func wholeFloat(f float64) (int64, bool) {
	if f != math.Trunc(f) || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, false
	}
	return int64(f), true
}

// Double converts to a Double, or to a Float's value. An integer fits if it
// comes out exactly. Lenient: a number in text; a float64 is rounded to a Float
// unless that overflows. A Float takes a float64 otherwise only if it is exact.
func (c *Converter) Double(t *schema.Type, raw []byte) (v float64, ok bool) {
	v, ok = event.Float(raw)
	if !ok {
		if v, ok = exactFloat(raw); !ok {
			v, ok = c.parseFloat(raw)
		}
	}
	if !ok || t.Kind != schema.Float {
		return v, ok
	}
	narrow := float64(float32(v))
	switch {
	case v != v || narrow == v:
		return narrow, true
	case c.Rules != schema.Lenient || math.IsInf(narrow, 0):
		return 0, false
	}
	return narrow, true
}

// exactFloat converts an integer that a float64 holds exactly.
func exactFloat(raw []byte) (float64, bool) {
	if n, ok := event.Int(raw); ok {
		f := float64(n)
		return f, f < math.MaxInt64 && int64(f) == n
	}
	if n, ok := event.Uint(raw); ok {
		f := float64(n)
		return f, f < math.MaxUint64 && uint64(f) == n
	}
	return 0, false
}

func (c *Converter) parseFloat(raw []byte) (float64, bool) {
	if c.Rules != schema.Lenient {
		return 0, false
	}
	if at, ok := event.Timestamp(raw); ok {
		return float64(at.Sec) + float64(at.Nsec)/1e9, true
	}
	s, ok := event.String(raw)
	if !ok || len(s) > longestNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(s), 64)
	return f, err == nil
}
