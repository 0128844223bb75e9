package json

const (
	// maxMisses is after how many misses in a row nothing is looked up or
	// remembered for a while.
	maxMisses = 32
	// pause is how many candidates that lasts.
	pause = 512
)

// hits decides whether it is worth its time to remember what was rendered.
type hits struct {
	misses int // in a row
	paused int // candidates that are still neither looked up nor remembered
}

// skip reports whether a candidate falls into the pause.
func (h *hits) skip() bool {
	if h.paused == 0 {
		return false
	}
	h.paused--
	return true
}

// miss notes a candidate that wasn't remembered, and reports whether it should
// be.
func (h *hits) miss() bool {
	if h.misses++; h.misses < maxMisses {
		return true
	}
	h.misses, h.paused = 0, pause
	return false
}
