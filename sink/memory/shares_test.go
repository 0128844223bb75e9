package memory

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

var errNoNumber = errors.New("the error names no limit")

// enough is the limit in bytes that an error of Split says would do.
func enough(err error) (int64, error) {
	var n, u int64
	if _, scanErr := fmt.Sscanf(err.Error(), "%d uploads, a chunk that is decoded and the parts of it take more; use %dM or more", &u, &n); scanErr != nil {
		return 0, fmt.Errorf("%w: %w", errNoNumber, err)
	}
	return n * 1e6, nil
}

// TestSharesAreTheLimit: they add up to it and none is negative; a limit that is
// refused comes with the one that would do, and 2 MB less would not.
func TestSharesAreTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, uploads := rapid.Int64Range(1, 1<<40).Draw(t, "limit"), rapid.IntRange(0, 256).Draw(t, "uploads")
		if rapid.Bool().Draw(t, "small") {
			limit %= 1 << 28
		}
		s, err := Split(limit, uploads)
		if err != nil {
			least, err := enough(err)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Split(least, uploads); err != nil || least <= limit {
				t.Errorf("%d is refused, and so is %d", limit, least)
			}
			if _, err := Split(least-2e6, uploads); err == nil {
				t.Errorf("%d would do, and not only %d", least-int64(2e6), least)
			}
			return
		}
		if sum := s.Collector + s.Payloads + s.Work + s.Uploads + s.Parts; sum != limit {
			t.Errorf("%+v together are %d", s, sum)
		}
		if s.Collector < 0 || s.Payloads < 0 || s.Work < leastWork || s.Uploads < perUpload || s.Encoders() <= 0 ||
			s.Open() <= s.Encoders() || s.Parts <= s.Open() {
			t.Errorf("%+v", s)
		}
	})
}

// TestDefaultShares are those of memory_limit 256M and 4 uploads, as docs/operations.md has them.
func TestDefaultShares(t *testing.T) {
	s, err := Split(256e6, 4)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Shares{Collector: 32e6, Payloads: 32e6, Work: 32e6, Uploads: 8 << 20, Parts: 160e6 - 8<<20}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}
