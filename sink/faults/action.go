// Package faults is the vocabulary in which tests say what fails, on the agent's
// disk (crashdisk) and on a target (faultfs) alike: an Action is what happens to
// one operation, an Injector decides on each operation in turn, and injectors
// compose.
//
// The usual test fails the n-th operation for every n, until a run ends without
// reaching it:
//
//	nth := func(n int) faults.Injector[faultfs.Call] { return faults.Nth[faultfs.Call](n, faults.After(nil)) }
//	fired := faults.ForEach(nth, func(n int, inj faults.Injector[faultfs.Call]) {
//		run(faultfs.New(store.Driver(), inj))
//		check()
//	})
//
// Everything is safe for concurrent use. Nothing runs on goroutines of its own.
package faults

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrInjected is the error of an Action that is given no other.
var ErrInjected = errors.New("injected fault")

// ErrStopped is the answer to every operation after the stop of StopAfter or
// StopWhen.
var ErrStopped = errors.New("the process has stopped")

// Kind is what an Action does.
type Kind int

const (
	Passes      Kind = iota // nothing
	FailsBefore             // fails without effect
	FailsAfter              // takes effect, and the answer is lost
	FailsHalf               // a part of it takes effect
	Hangs                   // is held until it is released, or its ctx ends
	Delays                  // is held for a time
	ComesLate               // fails, and takes effect later
)

// Action is what happens to one operation. The zero value lets it pass. Actions
// can be compared.
type Action struct {
	Kind    Kind
	Err     error           // what the operation fails with
	Bytes   int64           // of FailsHalf: how much of a write takes effect
	For     time.Duration   // of Delays
	Release <-chan struct{} // of Hangs
}

// Pass lets an operation be.
func Pass() Action { return Action{} }

// Before fails an operation that then has no effect. A nil error is ErrInjected,
// here and below.
func Before(err error) Action { return Action{Kind: FailsBefore, Err: cause(err)} }

// After lets an operation take effect and loses the answer.
func After(err error) Action { return Action{Kind: FailsAfter, Err: cause(err)} }

// Half lets the first bytes of a write take effect and fails then. What it does
// to other operations is said where they are.
func Half(bytes int64, err error) Action {
	return Action{Kind: FailsHalf, Bytes: bytes, Err: cause(err)}
}

// Hang holds an operation until release is closed, when it goes on, or until
// its ctx ends, when it fails without effect. A nil release never comes.
func Hang(release <-chan struct{}) Action { return Action{Kind: Hangs, Release: release} }

// Delay holds an operation for d, or until its ctx ends.
func Delay(d time.Duration) Action { return Action{Kind: Delays, For: d} }

// Late loses an operation's answer before it takes effect, and lets it take
// effect when the test says so.
func Late(err error) Action { return Action{Kind: ComesLate, Err: cause(err)} }

func cause(err error) error {
	if err == nil {
		return ErrInjected
	}
	return err
}

// Wait holds an operation that hangs or is delayed, and returns at once for any
// other. It returns what is left to do then, or why ctx ended.
func (a Action) Wait(ctx context.Context) (Action, error) {
	var over <-chan time.Time
	switch a.Kind {
	case Hangs:
	case Delays:
		timer := time.NewTimer(a.For)
		defer timer.Stop()
		over = timer.C
	default:
		return a, nil
	}
	select {
	case <-a.Release:
	case <-over:
	case <-ctx.Done():
		return a, context.Cause(ctx)
	}
	return Pass(), nil
}

func (a Action) String() string {
	switch a.Kind {
	case Passes:
		return "pass"
	case FailsBefore:
		return fmt.Sprintf("fail before (%v)", a.Err)
	case FailsAfter:
		return fmt.Sprintf("fail after (%v)", a.Err)
	case FailsHalf:
		return fmt.Sprintf("fail after %d bytes (%v)", a.Bytes, a.Err)
	case Hangs:
		return "hang"
	case Delays:
		return fmt.Sprintf("delay %v", a.For)
	default:
		return fmt.Sprintf("late (%v)", a.Err)
	}
}
