package sequencefile

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestVIntsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-200, 200), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64})).Draw(t, "v")
		b := appendVInt(nil, v)
		if got, size := readVInt(append(b, 0xff)); got != v || size != len(b) {
			t.Fatalf("%d became %d of %d bytes, %x", v, got, size, b)
		}
		for cut := range b {
			if _, size := readVInt(b[:cut]); size != 0 {
				t.Fatalf("%x has a number of %d bytes", b[:cut], size)
			}
		}
	})
}

// TestCountsOfMembers: a member that isn't what it should be never comes to a
// count.
func TestCountsOfMembers(t *testing.T) {
	record := func(value string) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(8+len(value)))
		return append(append(b, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8), value...)
	}
	three := append(append(record("a"), record("")...), record("ccc")...)
	for _, tc := range []struct {
		name   string
		count  func([]byte) int64
		member []byte
		want   int64
	}{
		{"records", countRecords, three, 3},
		{"a record that is cut short", countRecords, three[:len(three)-1], broken},
		{"a length that is cut short", countRecords, append(record("a"), 0, 0, 0), broken},
		{"a length beyond the member", countRecords, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 8}, broken},
		{"a block", countBlock, appendVInt(nil, 70_000), 70_000},
		{"no block", countBlock, nil, broken},
		{"a block's number that is cut short", countBlock, appendVInt(nil, 70_000)[:2], broken},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.count(tc.member); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
