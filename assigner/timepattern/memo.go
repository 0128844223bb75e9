package timepattern

import (
	"time"

	"github.com/out-hdfs/out_hdfs/assigner/intern"
)

// unit is a stretch of time on the local clock, in seconds. unitNone means that
// a result can't be kept even for a second.
type unit int64

const (
	unitNone    unit = 0
	unitSecond  unit = 1
	unitMinute  unit = 60
	unitHour    unit = 3600
	unitDay     unit = 86400
	unitForever unit = 1 << 62
)

// Span says for how long the result for t holds: Append gives the same for
// every instant of t's location from the Unix second from up to, and without,
// the Unix second to. ok is false if the result may change within a second.
//
// A span is at most a day and ends at the zone's next transition, so within it
// the local clock runs evenly.
func (p *Pattern) Span(t time.Time) (from, to int64, ok bool) {
	if p.unit == unitNone {
		return 0, 0, false
	}
	length := p.Stride()
	wall, now := wallSeconds(t), t.Unix()
	from = now - (wall - floorDiv(wall, length)*length)
	to = from + length
	start, end, bounded := zonePeriod(t)
	from = max(from, start)
	if bounded {
		to = min(to, end)
	}
	return from, to, true
}

// zonePeriod returns Unix seconds around t between which the zone has one
// offset: start ≤ t < end.
func zonePeriod(t time.Time) (start, end int64, bounded bool) {
	from, to := t.ZoneBounds()
	start = -1 << 62
	if !from.IsZero() {
		start = from.Unix()
	}
	if to.IsZero() {
		return start, 0, false
	}
	end = to.Unix()
	if end <= t.Unix() {
		// Beyond its table of transitions package time takes every year for one
		// of 365 days, and so ends a leap year's last period a day early.
		end = max(end+86400, t.Unix()+1)
	}
	return start, end, true
}

// Stride is the usual length of a span in seconds, 0 if results can't be kept.
func (p *Pattern) Stride() int64 {
	return int64(min(p.unit, unitDay))
}

// wallSeconds is what t's Unix time would be if its local clock showed UTC.
func wallSeconds(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// memoSlots is how many spans a Memo remembers: three weeks of hours, eight and a
// half hours of minutes, so that late events and current ones don't push each
// other out.
const memoSlots = 512

// Memo formats instants in one zone and remembers the results with their spans.
// An instant of a remembered span costs a comparison and no allocation. One
// goroutine uses a Memo at a time.
type Memo struct {
	pattern *Pattern
	loc     *time.Location
	stride  int64
	slots   [memoSlots]memoSlot
	texts   intern.Table
	buf     []byte
}

// memoSlot is the result for the Unix seconds s with from ≤ s < to: for none in
// the zero slot.
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
	return m.texts.Get(m.buf)
}
