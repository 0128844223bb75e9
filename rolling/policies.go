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

// RollOnEvent reports whether the part has reached its size.
func (d Default) RollOnEvent(p PartInfo) bool { return d.Size > 0 && p.Size >= d.Size }

// RollOnCheckpoint reports whether the part has reached its size.
func (d Default) RollOnCheckpoint(p PartInfo) bool { return d.RollOnEvent(p) }

// RollOnTimer reports whether the part is old or idle enough at now. A clock
// that was set back makes it younger, never older.
func (d Default) RollOnTimer(p PartInfo, now time.Time) bool {
	return d.Interval > 0 && now.Sub(p.FirstWrite) >= d.Interval ||
		d.Inactivity > 0 && now.Sub(p.LastWrite) >= d.Inactivity
}

// RollOnEvent is always false: the chunk isn't complete yet.
func (OnCheckpoint) RollOnEvent(PartInfo) bool { return false }

// RollOnCheckpoint is always true.
func (OnCheckpoint) RollOnCheckpoint(PartInfo) bool { return true }

// RollOnTimer is always false: no part outlives its checkpoint.
func (OnCheckpoint) RollOnTimer(PartInfo, time.Time) bool { return false }
