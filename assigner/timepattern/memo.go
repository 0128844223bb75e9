package timepattern

import (
	"time"

	"github.com/out-hdfs/out_hdfs/assigner/intern"
)

// memoSlots is how many spans a Memo remembers: with hours three weeks, with
// minutes half a working day, so late events beside current ones don't push each
// other out.
const memoSlots = 512

// Memo formats instants of one zone and remembers the results with their
// spans. An instant of a span seen before costs a comparison and no
// allocation. One goroutine uses a Memo at a time.
type Memo struct {
	pattern *Pattern
	loc     *time.Location
	stride  int64
	slots   [memoSlots]memoSlot
	seen    intern.Table
	buf     []byte
}

// memoSlot is the result for the Unix seconds from ≤ s < to. The zero slot
// holds for none.
type memoSlot struct {
	from, to int64
	text     string
}

// NewMemo returns an empty memo of the pattern in the zone.
func NewMemo(p *Pattern, loc *time.Location) *Memo {
	return &Memo{pattern: p, loc: loc, stride: p.Stride()}
}

// Format returns the pattern's result for the Unix time sec, nsec.
func (m *Memo) Format(sec int64, nsec uint32) string {
	if m.stride == 0 {
		return m.format(time.Unix(sec, int64(nsec)).In(m.loc))
	}
	slot := &m.slots[uint64(sec/m.stride)%memoSlots]
	if slot.from <= sec && sec < slot.to {
		return slot.text
	}
	t := time.Unix(sec, int64(nsec)).In(m.loc)
	text := m.format(t)
	if from, to, ok := m.pattern.Span(t); ok {
		*slot = memoSlot{from, to, text}
	}
	return text
}

func (m *Memo) format(t time.Time) string {
	m.buf = m.pattern.Append(m.buf[:0], t)
	return m.seen.Get(m.buf)
}
