// Package retry says when something that failed is tried again: the delays, and
// the pause that a failure makes of a thing, with its reason and its age.
//
// It waits for nobody and decides nothing about an error.
package retry

import (
	"math/rand/v2"
	"time"
)

// The delays double from First to Longest. Up to half of each is taken off at
// random, so that many agents don't come back at the same moment.
const (
	First   = 250 * time.Millisecond
	Longest = 30 * time.Second
)

// Backoff counts failures in a row. The zero value is ready to use. It isn't
// safe for concurrent use.
type Backoff struct{ failures int }

// Next counts a failure and returns how long to wait before the next try.
func (b *Backoff) Next() time.Duration {
	d := First << min(b.failures, 16)
	b.failures++
	d = min(d, Longest)
	return d - rand.N(d/2+1)
}

// Failures is how often Next was called.
func (b *Backoff) Failures() int { return b.failures }
