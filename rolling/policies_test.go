package rolling

import (
	"math"
	"testing"
	"time"
)

func TestPolicies(t *testing.T) {
	start := time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	all := Default{Size: 128e6, Interval: 15 * time.Minute, Inactivity: 5 * time.Minute}
	for _, tc := range []struct {
		name                     string
		policy                   Policy
		size                     int64
		last, now                time.Duration // since the first write
		event, checkpoint, timer bool
	}{
		{"a young small part", all, 1, 0, 0, false, false, false},
		{"a byte below the size", all, 128e6 - 1, 0, 0, false, false, false},
		{"the size is reached", all, 128e6, 0, 0, true, true, false},
		{"the size is passed", all, math.MaxInt64, 0, 0, true, true, false},
		{"just before the interval", all, 1, 15*time.Minute - 1, 15*time.Minute - 1, false, false, false},
		{"the interval is reached under traffic", all, 1, 15 * time.Minute, 15 * time.Minute, false, false, true},
		{"just before inactivity", all, 1, time.Minute, 6*time.Minute - 1, false, false, false},
		{"inactivity is reached", all, 1, time.Minute, 6 * time.Minute, false, false, true},
		{"everything is reached", all, 1e9, 0, time.Hour, true, true, true},
		{"the clock was set back", all, 1, 0, -24 * time.Hour, false, false, false},
		{"size alone, an old part", Default{Size: 10}, 9, 0, 1e6 * time.Hour, false, false, false},
		{"size alone, a big part", Default{Size: 10}, 10, 0, 0, true, true, false},
		{"interval alone, a big part", Default{Interval: time.Second}, math.MaxInt64, 0, 0, false, false, false},
		{"interval alone, an old part", Default{Interval: time.Second}, 1, time.Second, time.Second, false, false, true},
		{"inactivity alone, an idle part", Default{Inactivity: time.Second}, 1, 0, time.Second, false, false, true},
		{"inactivity alone, an old part", Default{Inactivity: time.Second}, 1, time.Hour, time.Hour, false, false, false},
		{"no limit", Default{}, math.MaxInt64, 0, 1e6 * time.Hour, false, false, false},
		{"an empty part with no limit", Default{}, 0, 0, 0, false, false, false},
		{"on checkpoint, a small part", OnCheckpoint{}, 1, 0, 0, false, true, false},
		{"on checkpoint, an old big part", OnCheckpoint{}, math.MaxInt64, 0, 1e6 * time.Hour, false, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := PartInfo{Size: tc.size, Records: 1, FirstWrite: start, LastWrite: at(tc.last)}
			if got := tc.policy.RollOnEvent(p); got != tc.event {
				t.Errorf("RollOnEvent is %v", got)
			}
			if got := tc.policy.RollOnCheckpoint(p); got != tc.checkpoint {
				t.Errorf("RollOnCheckpoint is %v", got)
			}
			if got := tc.policy.RollOnTimer(p, at(tc.now)); got != tc.timer {
				t.Errorf("RollOnTimer is %v", got)
			}
		})
	}
}
