package json

const (
	// mostMisses is how often in a row remembering may be of no use before it is
	// given up for a while.
	mostMisses = 32
	// longRest is how many candidates are then let pass before it is tried again.
	longRest = 512
)

// patience decides whether remembering is worth it.
type patience struct {
	misses int // in a row
	rest   int // candidates that are still let pass
}

// pass reports whether a candidate is let pass.
func (p *patience) pass() bool {
	if p.rest == 0 {
		return false
	}
	p.rest--
	return true
}

// miss notes a candidate that nothing remembered was of use for, and reports
// whether it should be remembered.
func (p *patience) miss() bool {
	if p.misses++; p.misses < mostMisses {
		return true
	}
	p.misses, p.rest = 0, longRest
	return false
}
