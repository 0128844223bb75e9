package memory

import "testing"

// TestMemoryKeepsWithinItsLimit and counts what is given back.
func TestMemoryKeepsWithinItsLimit(t *testing.T) {
	m := New(100)
	var kept []*Payload
	for range 20 {
		if k := m.Keep(make([]byte, 9)); k != nil {
			kept = append(kept, k)
		}
	}
	if len(kept) != 11 || m.kept.Load() != 99 {
		t.Errorf("%d payloads are kept, %d bytes", len(kept), m.kept.Load())
	}
	for _, k := range kept {
		m.Release(k)
		m.Release(k) // twice is once
	}
	m.Release(nil)
	if m.kept.Load() != 0 {
		t.Errorf("%d bytes are still counted", m.kept.Load())
	}
}
