package faultfs

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/faults"
)

// Injector and Switch are package faults' for a target's operations, as are the
// functions that make them.
type (
	Injector = faults.Injector[Call]
	Switch   = faults.Switch[Call]
)

// None lets everything pass, for counting.
func None() Injector { return faults.None[Call]() }

// Nth does a to operation number n, and to no other.
func Nth(n int, a Action) Injector { return faults.Nth[Call](n, a) }

// Every does a to every operation that m matches.
func Every(m Match, a Action) Injector { return faults.Every[Call](m, a) }

// Times does a to the first k operations that m matches.
func Times(k int, m Match, a Action) Injector { return faults.Times[Call](k, m, a) }

// Script does its actions to the operations that m matches, one each in order.
func Script(m Match, actions ...Action) Injector { return faults.Script[Call](m, actions...) }

// Random does one of actions, by lot, to a share p of the operations that m
// matches.
func Random(seed uint64, p float64, m Match, actions ...Action) Injector {
	return faults.Random[Call](seed, p, m, actions...)
}

// StopAfter lets n operations pass and answers ErrStopped to all that follow.
func StopAfter(n int) Injector { return faults.StopAfter[Call](n) }

// StopWhen answers ErrStopped from the moment at which dead is true.
func StopWhen(dead func() bool) Injector { return faults.StopWhen[Call](dead) }

// ForEach calls run with the Injector that make returns for 0, 1, 2 …, until one
// has not fired, and returns how many have.
func ForEach(make func(n int) Injector, run func(n int, inj Injector)) int {
	return faults.ForEach(make, run)
}

// NewSwitch returns inj, switched off.
func NewSwitch(inj Injector) *Switch { return faults.NewSwitch(inj) }

// First does what the first of its injectors does that doesn't let an operation
// pass.
func First(injectors ...Injector) Injector { return faults.First(injectors...) }

// Match selects operations. The zero value is all of them.
type Match struct {
	// Ops are the kinds, any if empty.
	Ops []Op
	// Path is a pattern of path.Match for the path or the last of its names,
	// or the final name of a Publish alike; "" is any.
	Path string
	// Below is a directory that the path, or the final name of a Publish, is in or below;
	// "" is any.
	Below string
}

// On matches kinds of operations on any path.
func On(ops ...Op) Match { return Match{Ops: ops} }

// Matches implements faults.Matcher.
func (m Match) Matches(c Call) bool {
	if len(m.Ops) > 0 && !slices.Contains(m.Ops, c.Op) {
		return false
	}
	return m.path(c.Path) || c.To != "" && m.path(c.To)
}

func (m Match) path(p string) bool {
	if m.Below != "" && p != m.Below && !strings.HasPrefix(p, strings.TrimSuffix(m.Below, "/")+"/") {
		return false
	}
	if m.Path == "" {
		return true
	}
	whole, err := path.Match(m.Path, p)
	if err != nil {
		panic("faultfs: pattern " + m.Path + ": " + err.Error())
	}
	last, _ := path.Match(m.Path, path.Base(p)) // its pattern is known to be good
	return whole || last
}

func (m Match) String() string {
	s := "any operation"
	if len(m.Ops) > 0 {
		s = strings.Trim(fmt.Sprint(m.Ops), "[]")
	}
	if m.Path != "" {
		s += " on " + m.Path
	}
	if m.Below != "" {
		s += " below " + m.Below
	}
	return s
}
