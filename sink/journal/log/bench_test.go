package log

import "testing"

// BenchmarkTailSearch looks for a frame in a segment's stale rest.
func BenchmarkTailSearch(b *testing.B) {
	content := make([]byte, 16<<20)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		s := &scanner{file: inMemory(content), id: 1, salt: 1, size: int64(len(content))}
		if s.durable() != HeaderSize {
			b.Fatal("a frame was found")
		}
	}
}
