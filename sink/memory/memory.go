// Package memory is what an instance does about memory_limit: it divides the limit
// (Shares), lends the buffers of chunks and their blocks and counts the payloads
// that are kept (Pool), and admits jobs while what they hold is within their share
// (Work). Parts are counted by those who own them.
//
// Nothing here waits for the garbage collector or asks it: what is garbage has a
// share of its own.
package memory

import (
	"sync"
	"sync/atomic"
)

// Payload is a chunk's bytes, kept in memory until they are in parts.
type Payload struct {
	b    []byte
	size int64 // as the Pool counts it
}

// Bytes are the chunk's bytes. They end with Release.
func (p *Payload) Bytes() []byte { return p.b }

// Pool lends buffers and keeps payloads within a limit. It is safe for
// concurrent use.
type Pool struct {
	limit int64 // of payloads
	kept  atomic.Int64
	pools [classes]sync.Pool // by size in steps of classSize
}

// New returns a Pool that keeps payloads of up to limit bytes together.
func New(limit int64) *Pool { return &Pool{limit: limit} }

// Keep copies data if the limit allows, and answers nil otherwise: the chunk is
// then read back from the journal.
func (p *Pool) Keep(data []byte) *Payload {
	size := Lent(len(data))
	if p.kept.Add(size) > p.limit {
		p.kept.Add(-size)
		return nil
	}
	return &Payload{append(p.Take(len(data)), data...), size}
}

// Buffers are lent by classes of size, so that one which is taken is about as
// large as what it is for: a chunk and its lines differ, and the largest would
// soon be everywhere. Small ones aren't worth keeping.
const (
	classSize = 256 << 10
	classes   = 32 // larger buffers aren't kept
)

// Lent is the memory that a buffer for n bytes takes.
func Lent(n int) int64 {
	if n < classSize {
		return int64(n)
	}
	return (int64(n) + classSize - 1) / classSize * classSize
}

// Take lends an empty buffer with room for n bytes.
func (p *Pool) Take(n int) []byte {
	size := Lent(n)
	if c := size / classSize; c > 0 && c < classes {
		if b, ok := p.pools[c].Get().(*[]byte); ok {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// Give takes a lent buffer back. It may have grown meanwhile.
func (p *Pool) Give(b []byte) {
	if c := cap(b) / classSize; c > 0 && c < classes {
		p.pools[c].Put(&b)
	}
}

// Release ends the keeping of a payload. nil, and a second time, are allowed.
func (p *Pool) Release(k *Payload) {
	if k == nil || k.b == nil {
		return
	}
	p.kept.Add(-k.size)
	p.Give(k.b)
	k.b = nil
}
