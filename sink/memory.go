package sink

import (
	"sync"
	"sync/atomic"
)

// buffer is a payload kept in memory until its chunk is applied.
type buffer struct{ b []byte }

// memory counts the payloads kept in the queue and lends their buffers.
type memory struct {
	limit int64 // of payloads
	// encoders is the limit of what in-progress parts hold in memory.
	encoders int64
	used     atomic.Int64
	pool     sync.Pool
}

// keep copies data if the limit allows, and answers nil otherwise: the chunk
// is then read back from the journal.
func (m *memory) keep(data []byte) *buffer {
	if m.used.Add(int64(len(data))) > m.limit {
		m.used.Add(-int64(len(data)))
		return nil
	}
	return &buffer{append(m.take(len(data)), data...)}
}

// take lends an empty buffer with room for n bytes.
func (m *memory) take(n int) []byte {
	if p, ok := m.pool.Get().(*[]byte); ok && cap(*p) >= n {
		return (*p)[:0]
	}
	return make([]byte, 0, n+n/8)
}

// give takes a lent buffer back. Unusually large ones aren't kept.
func (m *memory) give(b []byte) {
	const largest = 8 << 20
	if cap(b) > 0 && cap(b) <= largest {
		m.pool.Put(&b)
	}
}

// release ends the keeping of a payload. nil is allowed.
func (m *memory) release(k *buffer) {
	if k == nil || k.b == nil {
		return
	}
	m.used.Add(-int64(len(k.b)))
	m.give(k.b)
	k.b = nil
}
