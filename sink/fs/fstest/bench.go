package fstest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Bench measures Upload of 64 MiB: from a file, which a driver may let the kernel
// copy, and from memory.
func Bench(b *testing.B, h Harness) {
	const size = 64 << 20
	content := []byte(pattern(size))
	p := filepath.Join(b.TempDir(), "source")
	if err := os.WriteFile(p, content, 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(p)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for _, row := range []struct {
		name string
		src  fs.Source
	}{{"file", osSource{f, size}}, {"memory", bytes.NewReader(content)}} {
		b.Run("Upload64MiB/from="+row.name, func(b *testing.B) {
			c, dir := h.Open(b), h.Dir(b)
			defer c.Close()
			b.SetBytes(size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				info, err := c.Upload(b.Context(), row.src, fmt.Sprintf("%s/%d", dir, i), options)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := c.Discard(b.Context(), info.Path); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
