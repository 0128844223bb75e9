package chunk

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// TestRunsOfAnyOrder: ordinals are encoded once each, in whatever order they
// come.
func TestRunsOfAnyOrder(t *testing.T) {
	c := journal.CoverageOf(runsOf([]uint32{9, 2, 3, 2, 0, 9}))
	for i := range uint32(12) {
		if want := i == 0 || i == 2 || i == 3 || i == 9; c.Has(i) != want {
			t.Errorf("%d is covered: %v", i, c.Has(i))
		}
	}
	if c.Count() != 4 {
		t.Errorf("%d are covered", c.Count())
	}
}
