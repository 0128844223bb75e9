package staging

import (
	"errors"
	"sync/atomic"
)

// ErrFenced is the answer to what would begin after the area was fenced.
var ErrFenced = errors.New("the sink is closed")

// fence stands before every operation on the disk.
type fence struct{ closed atomic.Bool }

func (f *fence) close() { f.closed.Store(true) }

func (f *fence) pass() error {
	if f.closed.Load() {
		return ErrFenced
	}
	return nil
}
