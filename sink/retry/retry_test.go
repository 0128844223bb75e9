package retry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/retry"
)

// TestBackoffGrowsWithJitter from its first delay to its last.
func TestBackoffGrowsWithJitter(t *testing.T) {
	var b retry.Backoff
	seen := map[time.Duration]bool{}
	for i := range 100 {
		d, most := b.Next(), retry.Longest
		if i < 7 {
			most = retry.First << i
		}
		if d > most || d < most/2 {
			t.Errorf("delay %d is %v", i, d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("%d different delays", len(seen))
	}
}

// TestAPause has the age of its first failure and the reason of its last.
func TestAPause(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	first, second := errors.New("first"), errors.New("second")
	var p retry.Pause
	if _, was := p.End(at(0)); was || p.Why() != nil {
		t.Error("there is a pause before a failure")
	}
	if !p.Fail(first, at(0), at(10)) {
		t.Error("the first failure isn't the first")
	}
	until := p.Until()
	if p.Fail(second, at(5), at(11)) || p.Until() != until || p.Failures() != 1 {
		t.Error("a try that began before the failure makes the pause longer")
	}
	if p.Fail(second, at(20), at(21)) || !p.Until().After(at(21)) || p.Failures() != 2 {
		t.Error("a later failure doesn't make the pause longer")
	}
	if p.Since() != at(10) || p.Why() != second {
		t.Errorf("since %v because of %v", p.Since(), p.Why())
	}
	if p.Skip(); !p.Until().IsZero() || p.Why() == nil {
		t.Error("a pause that is skipped ends before a try succeeds")
	}
	if after, was := p.End(at(70)); !was || after != time.Minute || p.Why() != nil {
		t.Errorf("it ended after %v: %v", after, was)
	}
}
