package bucket

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/staging"
)

// TestPartIsFull: what a part's frame lists is bounded, by ordinals and by
// shares.
func TestPartIsFull(t *testing.T) {
	for _, row := range []struct {
		name string
		p    part
		want bool
	}{
		{"empty", part{}, false},
		{"large ordinals", part{runs: maxShareList}, true},
		{"almost", part{runs: maxShareList - shareSize, shares: make([]partShare, 0)}, false},
		{"many shares", part{shares: make([]partShare, maxShareList/shareSize)}, true},
	} {
		if got := row.p.full(); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
		if row.want && row.p.file == nil {
			row.p.file = &staging.File{}
			if row.p.buffered() < maxShareList {
				t.Errorf("%s: memory_limit doesn't count it", row.name)
			}
		}
	}
}
