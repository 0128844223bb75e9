// Package rolling decides when an in-progress part is rolled, that is closed
// and handed on to be published.
//
// A policy is a pure function of what it is shown. It holds no state, starts
// no timer and never touches the part.
package rolling

import "time"

// PartInfo is what a policy may know of an in-progress part.
type PartInfo struct {
	Size       int64     // encoded bytes so far
	Records    int64     // records so far, at least 1
	FirstWrite time.Time // when the part's first record was written
	LastWrite  time.Time // when its last record was written
	// Early, from 0 to 1, spreads the parts of many agents over a part of the time
	// that a limit leaves: it is another for each part.
	Early float64
}

// Policy decides when a part is rolled, and why: None means not now.
// Implementations are safe for concurrent use.
type Policy interface {
	// RollOnEvent is asked after a bucket's share of a chunk was written.
	RollOnEvent(p PartInfo) Reason
	// RollOnCheckpoint is asked after all of a chunk was written.
	RollOnCheckpoint(p PartInfo) Reason
	// RollOnTimer is asked every bucket_check_interval, traffic or not.
	RollOnTimer(p PartInfo, now time.Time) Reason
}
