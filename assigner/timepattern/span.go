package timepattern

import "time"

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
	length := int64(min(p.unit, unitDay))
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
