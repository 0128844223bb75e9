package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestAllocateByWriting covers file systems without fallocate, which the suite
// can't ask for.
func TestAllocateByWriting(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("abc"); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ ask, want int64 }{{2, 3}, {3<<20 + 5, 3<<20 + 5}, {3 << 20, 3<<20 + 5}} {
		if err := (osFile{f}).allocateByWriting(row.ask); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(f.Name())
		if err != nil || int64(len(got)) != row.want || string(got[:3]) != "abc" || len(bytes.Trim(got[3:], "\x00")) > 0 {
			t.Errorf("asked for %d, got %d bytes: %v", row.ask, len(got), err)
		}
	}
}
