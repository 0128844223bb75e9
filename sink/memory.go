package sink

import (
	"sync"
	"sync/atomic"
)

// buffer is a payload kept in memory until its chunk is applied.
type buffer struct {
	b    []byte
	size int64 // as memory counts it
}

// memory counts the payloads kept in the queue and lends their buffers.
type memory struct {
	limit int64 // of payloads
	// encoders is the limit of what in-progress parts hold in memory.
	encoders int64
	used     atomic.Int64
	pools    [classes]sync.Pool // by size in steps of classSize
}

// keep copies data if the limit allows, and answers nil otherwise: the chunk
// is then read back from the journal.
func (m *memory) keep(data []byte) *buffer {
	size := lent(len(data))
	if m.used.Add(size) > m.limit {
		m.used.Add(-size)
		return nil
	}
	return &buffer{append(m.take(len(data)), data...), size}
}

// Buffers are lent by classes of size, so that one which is taken is about as
// large as what it is for: a chunk and its lines differ, and the largest would
// soon be everywhere. Small ones aren't worth keeping.
const (
	classSize = 256 << 10
	classes   = 32 // larger buffers aren't kept
)

// lent is the memory that a buffer for n bytes takes.
func lent(n int) int64 {
	if n < classSize {
		return int64(n)
	}
	return (int64(n) + classSize - 1) / classSize * classSize
}

// take lends an empty buffer with room for n bytes.
func (m *memory) take(n int) []byte {
	size := lent(n)
	if c := size / classSize; c > 0 && c < classes {
		if p, ok := m.pools[c].Get().(*[]byte); ok {
			return (*p)[:0]
		}
	}
	return make([]byte, 0, size)
}

// give takes a lent buffer back. It may have grown meanwhile.
func (m *memory) give(b []byte) {
	if c := cap(b) / classSize; c > 0 && c < classes {
		m.pools[c].Put(&b)
	}
}

// release ends the keeping of a payload. nil is allowed.
func (m *memory) release(k *buffer) {
	if k == nil || k.b == nil {
		return
	}
	m.used.Add(-k.size)
	m.give(k.b)
	k.b = nil
}
