package eventtest

import (
	"encoding/binary"
	"math"

	"pgregory.net/rapid"
)

// Wide packs a value with the longest form its type has, as writers do that
// leave room for a length they don't know yet. Maps and lists within are
// packed by Append again.
type Wide struct{ Value any }

func appendWide(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(binary.BigEndian.AppendUint32(append(dst, 0xdb), uint32(len(v))), v...)
	case []byte:
		return append(binary.BigEndian.AppendUint32(append(dst, 0xc6), uint32(len(v))), v...)
	case int64:
		return binary.BigEndian.AppendUint64(append(dst, 0xd3), uint64(v))
	case Ext:
		dst = binary.BigEndian.AppendUint32(append(dst, 0xc9), uint32(len(v.Data)))
		return append(append(dst, byte(v.Type)), v.Data...)
	case []any:
		dst = binary.BigEndian.AppendUint32(append(dst, 0xdd), uint32(len(v)))
		for _, x := range v {
			dst = Append(dst, x)
		}
		return dst
	case Map:
		dst = binary.BigEndian.AppendUint32(append(dst, 0xdf), uint32(len(v)/2))
		for _, x := range v {
			dst = Append(dst, x)
		}
		return dst
	}
	return Append(dst, v)
}

// Values generates anything that msgpack can hold, nested up to the depth:
// invalid UTF-8, NaN, keys of every type and repeated ones included, and Wide
// forms. It stays in the types that Decode returns, but for Wide.
func Values(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		v := narrow(t, depth)
		if rapid.IntRange(0, 5).Draw(t, "wide") == 0 {
			return Wide{v}
		}
		return v
	})
}

func narrow(t *rapid.T, depth int) any {
	kinds := 9
	if depth > 0 {
		kinds = 13
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Int64().Draw(t, "int")
	case 3:
		return rapid.Uint64Min(1<<63).Draw(t, "uint")
	case 4:
		return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e21, 1e-7, 5e-324})).Draw(t, "float")
	case 5:
		return rapid.Float32().Draw(t, "float32")
	case 6, 7:
		return Texts().Draw(t, "text")
	case 8:
		return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bin")
	case 9:
		return Ext{rapid.Int8().Draw(t, "type"), rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")}
	case 10, 11:
		return Maps(depth-1).Draw(t, "map")
	default:
		return rapid.SliceOfN(Values(depth-1), 0, 20).Draw(t, "list")
	}
}

// Texts generates strings: words, text in many scripts, things to escape, and
// bytes that are no UTF-8.
func Texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z_]{0,12}`),
		rapid.String(),
		rapid.StringN(30, 300, 400),
		rapid.StringOf(rapid.SampledFrom([]rune("中文日志🙂\u2028\"\\\x00\x1f\x7f\n<>&aé"))),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) }),
	)
}

// Maps generates maps; most keys are text from a small set, so some repeat.
func Maps(depth int) *rapid.Generator[Map] {
	key := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"a", "b", "log", "date", "1", "", "key with spaces"}), func(s string) any { return s }),
		rapid.Map(Texts(), func(s string) any { return s }),
		Values(0),
	)
	return rapid.Custom(func(t *rapid.T) Map {
		m := Map{}
		for range rapid.IntRange(0, 20).Draw(t, "pairs") {
			m = append(m, key.Draw(t, "key"), Values(max(depth, 0)).Draw(t, "value"))
		}
		return m
	})
}
