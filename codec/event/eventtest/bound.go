package eventtest

import (
	"runtime/metrics"
	"testing"
)

// Bounded runs what reads an input of so many bytes and fails the test if it
// allocated more than any honest use of them: some buffers of a compressor's,
// and for each byte what a column of its own may take. A length that the input
// claims and doesn't have costs gigabytes. Other goroutines' allocations count
// too, so tests that call it don't run in parallel with others.
func Bounded(tb testing.TB, input int, run func()) {
	tb.Helper()
	const (
		buffers = 64 << 20
		perByte = 8 << 10
	)
	before := allocated()
	run()
	if got, most := allocated()-before, uint64(buffers+perByte*input); got > most {
		tb.Errorf("%d bytes were allocated for an input of %d", got, input)
	}
}

// allocated is how many bytes the process has ever allocated on the heap.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
