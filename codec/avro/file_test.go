package avro

import (
	"bytes"
	"testing"
)

// TestCountsOfBlocks: what is no block never comes to a count.
func TestCountsOfBlocks(t *testing.T) {
	block := appendText(appendLong(nil, 70_000), []byte("records"))
	for _, tc := range []struct {
		name  string
		block []byte
		want  int64
	}{
		{"a block", block, 70_000},
		{"no block", nil, broken},
		{"a number that is cut short", block[:2], broken},
		{"a number without an end", bytes.Repeat([]byte{0xff}, 20), broken},
		{"less than none", appendLong(nil, -1), broken},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := countBlock(tc.block); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}
