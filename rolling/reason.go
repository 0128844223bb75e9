package rolling

import "fmt"

// Reason is why a part is rolled. The policies give the first ones, the sink's
// limits the others.
type Reason uint8

const (
	// None means that the part isn't rolled.
	None Reason = iota
	// Size: the part has reached roll_size.
	Size
	// Interval: roll_interval has passed since the part's first record.
	Interval
	// Inactivity: roll_inactivity has passed since the part's last record.
	Inactivity
	// Checkpoint: the policy rolls after each chunk.
	Checkpoint
	// MaxOpenBuckets: too many buckets have an in-progress part.
	MaxOpenBuckets
	// MemoryLimit: in-progress parts hold too much memory.
	MemoryLimit
	// OpenFiles: in-progress parts hold as many files open as the process can
	// spare.
	OpenFiles
	// StateLimit: the state directory holds as much as state_limit allows.
	StateLimit
	// SegmentPinned: chunks wait for room, and the part holds records of the
	// oldest chunk that isn't finished, so its journal segment can't be used again.
	SegmentPinned
	// DiskFull: the state directory's disk has no room.
	DiskFull
	// ShareList: the list of the part's shares is as long as one journal frame
	// may hold.
	ShareList
	// Stop: the sink is drained or closed.
	Stop

	reasons
)

var names = [reasons]string{"none", "size", "interval", "inactivity", "checkpoint", "max_open_buckets",
	"memory_limit", "open_files", "state_limit", "segment_pinned", "disk_full", "share_list", "stop"}

// String is the reason's word in logs, status and metrics.
func (r Reason) String() string {
	if r >= reasons {
		return fmt.Sprintf("reason %d", uint8(r))
	}
	return names[r]
}

// Reasons are all but None.
func Reasons() []Reason {
	out := make([]Reason, 0, reasons)
	for r := None + 1; r < reasons; r++ {
		out = append(out, r)
	}
	return out
}
