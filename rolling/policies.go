package rolling

import "time"

// Default rolls a part that is big, old or idle enough; a limit is met once it
// is reached. A limit of zero or below is switched off; with all of them off
// parts are rolled by nothing here.
type Default struct {
	Size       int64         // encoded bytes
	Interval   time.Duration // since the part's first record
	Inactivity time.Duration // since the part's last record
}

// OnCheckpoint rolls every part after each chunk, which bounds how long a
// record waits to be seen and makes many small files.
type OnCheckpoint struct{}

var (
	_ Policy = Default{}
	_ Policy = OnCheckpoint{}
)

// RollOnEvent is Size for a part that has reached it.
func (d Default) RollOnEvent(p PartInfo) Reason {
	if d.Size > 0 && p.Size >= d.Size {
		return Size
	}
	return None
}

// RollOnCheckpoint is Size for a part that has reached it.
func (d Default) RollOnCheckpoint(p PartInfo) Reason { return d.RollOnEvent(p) }

// spread is how much earlier than its limit says a part may be rolled by time: a
// tenth. The buckets of an hour begin and end at one moment for all agents, and
// a thousand of them would come to the target at one moment.
const spread = 10

// limit is a limit of time as it is for the part.
func (p PartInfo) limit(d time.Duration) time.Duration {
	return d - time.Duration(p.Early*float64(d/spread))
}

// RollOnTimer is Interval for a part that is old enough at now, and Inactivity
// for one that is idle enough. A clock that was set back makes it younger, never
// older.
func (d Default) RollOnTimer(p PartInfo, now time.Time) Reason {
	switch {
	case d.Interval > 0 && now.Sub(p.FirstWrite) >= p.limit(d.Interval):
		return Interval
	case d.Inactivity > 0 && now.Sub(p.LastWrite) >= p.limit(d.Inactivity):
		return Inactivity
	}
	return None
}

// RollOnEvent is always None: the chunk isn't complete yet.
func (OnCheckpoint) RollOnEvent(PartInfo) Reason { return None }

// RollOnCheckpoint is always Checkpoint.
func (OnCheckpoint) RollOnCheckpoint(PartInfo) Reason { return Checkpoint }

// RollOnTimer is always None: no part outlives its checkpoint.
func (OnCheckpoint) RollOnTimer(PartInfo, time.Time) Reason { return None }
