package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// unpack decodes the hybrid encoding as its specification has it.
func unpack(t rapid.TB, b []byte, width, n int) (values []uint32) {
	t.Helper()
	bytesPer := (width + 7) / 8
	for len(values) < n {
		header, k := binary.Uvarint(b)
		if k <= 0 {
			t.Fatalf("%d of %d values", len(values), n)
		}
		b = b[k:]
		if header&1 == 0 {
			v := uint32(0)
			for i := range bytesPer {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[bytesPer:]
			for range header >> 1 {
				values = append(values, v)
			}
			continue
		}
		groups := int(header >> 1)
		for i := range groups * 8 {
			v := uint32(0)
			for bit := range width {
				at := i*width + bit
				v |= uint32(b[at/8]>>(at%8)&1) << bit
			}
			values = append(values, v)
		}
		b = b[groups*width:]
	}
	if len(b) > 0 {
		t.Fatalf("%d bytes follow the runs", len(b))
	}
	return values[:n]
}

// TestRuns: whatever is put in comes out, of every width, however it repeats.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 17).Draw(t, "width")
		most := uint32(1)<<width - 1
		var h hybrid
		for range 2 { // the second time with the first's memory
			h.reset(width)
			var want []uint32
			for range rapid.IntRange(0, 60).Draw(t, "runs") {
				v := rapid.Uint32Max(most).Draw(t, "value")
				n := rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, 700)).Draw(t, "times")
				for range n {
					want = append(want, v)
				}
				if rapid.Bool().Draw(t, "at once") {
					h.repeat(v, n)
				} else {
					for range n {
						h.put(v)
					}
				}
			}
			got := unpack(t, h.finish(), width, len(want))
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("value %d is %d, want %d", i, got[i], want[i])
				}
			}
		}
	})
}

// TestTextBounds: no value lies outside, a cut one included, and they are text.
func TestTextBounds(t *testing.T) {
	texts := rapid.OneOf(
		rapid.String(),
		rapid.StringN(60, 90, 300),
		rapid.Map(rapid.IntRange(0, 70), func(n int) string { return strings.Repeat("\U0010FFFF", n) }),
		rapid.Map(rapid.IntRange(0, 70), func(n int) string { return strings.Repeat("a", n) + "\uD7FF" + strings.Repeat("b", 70) }),
	)
	text := &leaf{physical: physicalByteArray, typ: &schema.Type{Kind: schema.String}}
	rapid.Check(t, func(t *rapid.T) {
		var b bounds
		values := rapid.SliceOfN(texts, 1, 10).Draw(t, "values")
		for _, v := range values {
			b.text([]byte(v))
		}
		low, high := cutLow(b.lowText), b.highText
		if len(high) > longestBound {
			high = cutHigh(high, text.isUTF8())
		}
		for _, v := range values {
			if string(low) > v || high != nil && string(high) < v {
				t.Fatalf("%q is outside of %q and %q", v, low, high)
			}
		}
		if !utf8.Valid(low) || !utf8.Valid(high) || len(low) > longestBound || len(high) > longestBound+utf8.UTFMax {
			t.Fatalf("the bounds are %q and %q", low, high)
		}
	})
}

// TestBytesBounds: those of bytes that aren't text.
func TestBytesBounds(t *testing.T) {
	if got := cutHigh(bytes.Repeat([]byte{0xff}, 100), false); got != nil {
		t.Errorf("got %x", got)
	}
	v := append(bytes.Repeat([]byte{1}, 63), bytes.Repeat([]byte{0xff}, 10)...)
	if got := cutHigh(v, false); bytes.Compare(got, v) <= 0 || len(got) != 63 {
		t.Errorf("got %x", got)
	}
}

// TestFloatBounds: both zeros are inside, and a NaN leaves no bounds.
func TestFloatBounds(t *testing.T) {
	double := &leaf{physical: physicalDouble}
	rows := map[string]struct {
		values []float64
		want   []byte // of the greatest, then of the least; nil for none
	}{
		"zero":     {[]float64{0}, append(f64(0), f64(math.Copysign(0, -1))...)},
		"usual":    {[]float64{2, -1, 1}, append(f64(2), f64(-1)...)},
		"infinite": {[]float64{math.Inf(-1), math.Inf(1)}, append(f64(math.Inf(1)), f64(math.Inf(-1))...)},
		"NaN":      {[]float64{1, math.NaN(), 2}, nil},
		"nothing":  {nil, nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			var b bounds
			for _, v := range row.values {
				b.float(v)
			}
			var got, want statistics
			b.describe(&got, double)
			if row.want != nil {
				want.set(row.want[8:], row.want[:8], true, true)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func f64(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
