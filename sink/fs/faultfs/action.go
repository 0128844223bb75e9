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
// The usual test fails the n-th operation for every n, until a run ends without
// reaching it:
//
//	nth := func(n int) faultfs.Injector { return faultfs.Nth(n, faultfs.FailAfter(nil)) }
//	fired := faultfs.ForEach(nth, func(n int, inj faultfs.Injector) {
//		run(faultfs.New(store.Driver(), inj))
//		check()
//	})
//
// Everything is safe for concurrent use. Nothing runs on goroutines of its own.
package faultfs

import (
	"errors"
	"fmt"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// ErrInjected is in every injected error that names no other.
var ErrInjected = errors.New("injected fault")

// ErrStopped is the answer to every operation after the stop of StopAfter or
// StopWhen.
var ErrStopped = errors.New("the process has stopped")

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
	Discard
)

// AllOps are all kinds of operations, for a test that wants each.
func AllOps() []Op {
	return []Op{UploadCreate, UploadWrite, UploadClose, Publish, Stat, LocateBegin, LocateEnd, Discard}
}

func (o Op) String() string {
	return [...]string{"upload-create", "upload-write", "upload-close", "publish", "stat",
		"locate-begin", "locate-end", "discard"}[o]
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

// kind is what an Action does.
type kind int

const (
	pass kind = iota
	before
	after
	half
	hang
	delay
	late
)

// Action is what happens to one operation. The zero value lets it pass.
type Action struct {
	kind    kind
	class   fs.Class
	err     error
	bytes   int64
	delay   time.Duration
	release <-chan struct{}
}

// Pass lets an operation be.
func Pass() Action { return Action{} }

// FailBefore fails an operation that then has no effect. The error is of the
// class, and wraps err, or ErrInjected if that is nil.
func FailBefore(class fs.Class, err error) Action {
	return Action{kind: before, class: class, err: cause(err)}
}

// FailAfter lets an operation take effect and loses the answer: the error is
// Unclear.
func FailAfter(err error) Action { return Action{kind: after, class: fs.Unclear, err: cause(err)} }

// Half writes the first bytes bytes of a slice and fails then; the file stays
// as it is. For other operations it is FailBefore.
func Half(bytes int64, class fs.Class, err error) Action {
	return Action{kind: half, bytes: bytes, class: class, err: cause(err)}
}

// Hang holds an operation until release is closed, when it goes on, or until
// its ctx ends, when it fails without effect. A nil release never comes.
func Hang(release <-chan struct{}) Action { return Action{kind: hang, release: release} }

// Delay holds an operation for d, or until its ctx ends.
func Delay(d time.Duration) Action { return Action{kind: delay, delay: d} }

// Late loses an operation's answer before it takes effect, and lets it take
// effect only when Driver.Land is called: the error is Unclear. This is for
// Publish and Discard; for others it is FailBefore, since their content or caller
// is gone by then.
func Late(err error) Action { return Action{kind: late, class: fs.Unclear, err: cause(err)} }

func cause(err error) error {
	if err == nil {
		return ErrInjected
	}
	return err
}

func (a Action) String() string {
	switch a.kind {
	case pass:
		return "pass"
	case before:
		return fmt.Sprintf("fail before (%v: %v)", a.class, a.err)
	case after:
		return fmt.Sprintf("fail after (%v)", a.err)
	case half:
		return fmt.Sprintf("fail after %d bytes (%v: %v)", a.bytes, a.class, a.err)
	case hang:
		return "hang"
	case delay:
		return fmt.Sprintf("delay %v", a.delay)
	default:
		return fmt.Sprintf("late (%v)", a.err)
	}
}
