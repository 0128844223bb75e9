package schematest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Golden is what an encoder makes of streams: a line for each, with checksums of
// the bytes and of the reasons why records were rejected.
type Golden struct {
	lines   [][]byte
	reasons [][]byte
}

// Add appends a stream's line.
func (g *Golden) Add(name string, encoded, reasons []byte) {
	line := fmt.Appendf(nil, "%q %d bytes %.6x, %d rejected %.6x", name, len(encoded), sum(encoded), bytes.Count(reasons, []byte("\n")), sum(reasons))
	g.lines, g.reasons = append(g.lines, line), append(g.reasons, reasons)
}

func sum(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}

// Compare demands that the lines are those of the file. On a difference it
// leaves what it got in the file's place with .got behind the name.
func (g *Golden) Compare(t *testing.T, name string) {
	t.Helper()
	want, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Error(err)
	}
	got := append(bytes.Join(g.lines, []byte("\n")), '\n')
	if bytes.Equal(got, want) {
		return
	}
	lines := bytes.Split(want, []byte("\n"))
	for i, line := range g.lines {
		if i >= len(lines) || !bytes.Equal(line, lines[i]) {
			t.Errorf("line %d is now\n%s\nits reasons are\n%s", i+1, line, g.reasons[i])
			break
		}
	}
	if err := os.WriteFile(name+".got", got, 0o600); err != nil {
		t.Error(err)
	}
	t.Errorf("%s has %d lines, %d are expected; compare with %s.got", name, len(g.lines), len(lines)-1, name)
}
