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
		event, checkpoint, timer Reason
	}{
		{"a young small part", all, 1, 0, 0, None, None, None},
		{"a byte below the size", all, 128e6 - 1, 0, 0, None, None, None},
		{"the size is reached", all, 128e6, 0, 0, Size, Size, None},
		{"the size is passed", all, math.MaxInt64, 0, 0, Size, Size, None},
		{"just before the interval", all, 1, 15*time.Minute - 1, 15*time.Minute - 1, None, None, None},
		{"the interval is reached under traffic", all, 1, 15 * time.Minute, 15 * time.Minute, None, None, Interval},
		{"just before inactivity", all, 1, time.Minute, 6*time.Minute - 1, None, None, None},
		{"inactivity is reached", all, 1, time.Minute, 6 * time.Minute, None, None, Inactivity},
		{"everything is reached", all, 1e9, 0, time.Hour, Size, Size, Interval},
		{"the clock was set back", all, 1, 0, -24 * time.Hour, None, None, None},
		{"size alone, an old part", Default{Size: 10}, 9, 0, 1e6 * time.Hour, None, None, None},
		{"size alone, a big part", Default{Size: 10}, 10, 0, 0, Size, Size, None},
		{"interval alone, a big part", Default{Interval: time.Second}, math.MaxInt64, 0, 0, None, None, None},
		{"interval alone, an old part", Default{Interval: time.Second}, 1, time.Second, time.Second, None, None, Interval},
		{"inactivity alone, an idle part", Default{Inactivity: time.Second}, 1, 0, time.Second, None, None, Inactivity},
		{"inactivity alone, an old part", Default{Inactivity: time.Second}, 1, time.Hour, time.Hour, None, None, None},
		{"no limit", Default{}, math.MaxInt64, 0, 1e6 * time.Hour, None, None, None},
		{"an empty part with no limit", Default{}, 0, 0, 0, None, None, None},
		{"on checkpoint, a small part", OnCheckpoint{}, 1, 0, 0, None, Checkpoint, None},
		{"on checkpoint, an old big part", OnCheckpoint{}, math.MaxInt64, 0, 1e6 * time.Hour, None, Checkpoint, None},
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

// TestEveryReasonHasAWord of its own.
func TestEveryReasonHasAWord(t *testing.T) {
	words := map[string]Reason{}
	for _, r := range Reasons() {
		word := r.String()
		if other, taken := words[word]; taken || word == "" || word == None.String() {
			t.Errorf("reason %d is %q, as is %d", r, word, other)
		}
		words[word] = r
	}
	if len(words) != int(Stop) {
		t.Errorf("%d reasons, the last one is number %d", len(words), Stop)
	}
}
