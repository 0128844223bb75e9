// Package faultfs wraps a file system for tests and lets operations fail: before
// they take effect, after it with the answer lost, half way, late, or never
// coming back. An Injector decides, one operation at a time, and injectors
// compose.
//
// An Upload is several operations: UploadCreate, an UploadWrite for each slice
// that the driver reads, and UploadClose. Where one fails, the driver below sees
// its source fail at that point and leaves what it then leaves. A Locate is two:
// its beginning, and its end after the driver below has answered.
//
// Actions and injectors are package faults', which has an example.
//
// Everything is safe for concurrent use. Nothing runs on goroutines of its own.
package faultfs

import (
	"fmt"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// ErrInjected is in every injected error that names no other, ErrStopped in the
// answer to every operation after a stop.
var (
	ErrInjected = faults.ErrInjected
	ErrStopped  = faults.ErrStopped
)

// Op is a kind of operation.
type Op int

const (
	UploadCreate Op = iota
	UploadWrite     // one slice
	UploadClose     // the last step, after which an Upload is whole and durable
	Publish
	Stat
	LocateBegin // before anything is looked at
	LocateEnd   // the end, after which the answer counts
	Open        // of a file to be read, its reads included
	Discard
)

// AllOps are all kinds of operations, for a test that wants each.
func AllOps() []Op {
	return []Op{UploadCreate, UploadWrite, UploadClose, Publish, Stat, LocateBegin, LocateEnd, Open, Discard}
}

func (o Op) String() string {
	return [...]string{"upload-create", "upload-write", "upload-close", "publish", "stat",
		"locate-begin", "locate-end", "open", "discard"}[o]
}

// Call is one operation about to happen.
type Call struct {
	N      int // its number on this Driver, from 0
	Op     Op
	Path   string // the first name for Locate
	To     string // the final name for Publish
	Offset int64  // of a slice
	Length int64  // of a slice
}

func (c Call) String() string {
	s := fmt.Sprintf("#%d %v %s", c.N, c.Op, c.Path)
	switch c.Op {
	case Publish:
		s += " as " + c.To
	case UploadWrite:
		s += fmt.Sprintf(" [%d,%d)", c.Offset, c.Offset+c.Length)
	}
	return s
}

// Number implements faults.Numbered.
func (c Call) Number() int { return c.N }

// Action is what happens to one operation. The zero value lets it pass.
type Action = faults.Action

// Pass lets an operation be.
func Pass() Action { return faults.Pass() }

// FailBefore fails an operation that then has no effect. The error is of the
// class, and wraps err, or ErrInjected if that is nil.
func FailBefore(class fs.Class, err error) Action { return faults.Before(classify(class, err)) }

// FailAfter lets an operation take effect and loses the answer: the error is
// Unclear.
func FailAfter(err error) Action { return faults.After(err) }

// Half writes the first bytes bytes of a slice and fails then; the file stays
// as it is. What Open opened can be read up to there. For other operations it is
// FailBefore.
func Half(bytes int64, class fs.Class, err error) Action {
	return faults.Half(bytes, classify(class, err))
}

// Hang holds an operation until release is closed, when it goes on, or until
// its ctx ends, when it fails without effect. A nil release never comes.
func Hang(release <-chan struct{}) Action { return faults.Hang(release) }

// Delay holds an operation for d, or until its ctx ends.
func Delay(d time.Duration) Action { return faults.Delay(d) }

// Late loses an operation's answer before it takes effect, and lets it take
// effect only when Driver.Land is called: the error is Unclear. This is for
// Publish and Discard; for others it is FailBefore, since their content or caller
// is gone by then.
func Late(err error) Action { return faults.Late(err) }

// classified is an error that an operation fails with under a class. One that
// isn't classified is Unclear.
type classified struct {
	class fs.Class
	err   error
}

func classify(class fs.Class, err error) error {
	if err == nil {
		err = ErrInjected
	}
	return classified{class, err}
}

func (c classified) Error() string { return fmt.Sprintf("%v: %v", c.class, c.err) }
func (c classified) Unwrap() error { return c.err }
