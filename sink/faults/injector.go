package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

// Numbered is an operation that knows its number among all that were asked for,
// from 0.
type Numbered interface{ Number() int }

// Injector decides what happens to each operation, which C describes.
type Injector[C any] interface {
	// Decide is called once for each operation, before it, on whichever
	// goroutine performs it. A target calls it in the order of the operations'
	// numbers; a disk may call it for several at once.
	Decide(C) Action
	// Fired is how many operations it has not let pass.
	Fired() int
	// String says what it does, for the text of a failing test.
	fmt.Stringer
}

// rule is an Injector made of a function.
type rule[C any] struct {
	name   string
	decide func(C) Action

	mu    sync.Mutex
	fired int
}

// newRule returns an Injector that calls decide under a mutex.
func newRule[C any](name string, decide func(C) Action) Injector[C] {
	return &rule[C]{name: name, decide: decide}
}

func (r *rule[C]) Decide(c C) Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.decide(c)
	if a.Kind != Passes {
		r.fired++
	}
	return a
}

func (r *rule[C]) Fired() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fired
}

func (r *rule[C]) String() string { return r.name }

// None lets everything pass, for counting.
func None[C any]() Injector[C] { return newRule("none", func(C) Action { return Pass() }) }

// Nth does a to operation number n, and to no other.
func Nth[C Numbered](n int, a Action) Injector[C] {
	return newRule(fmt.Sprintf("#%d: %v", n, a), func(c C) Action {
		if c.Number() != n {
			return Pass()
		}
		return a
	})
}

// Matcher selects operations.
type Matcher[C any] interface {
	Matches(C) bool
	fmt.Stringer
}

// Every does a to every operation that m matches.
func Every[C any](m Matcher[C], a Action) Injector[C] {
	return newRule(fmt.Sprintf("every %v: %v", m, a), func(c C) Action {
		if !m.Matches(c) {
			return Pass()
		}
		return a
	})
}

// Times does a to the first k operations that m matches.
func Times[C any](k int, m Matcher[C], a Action) Injector[C] {
	left := k
	return newRule(fmt.Sprintf("first %d of %v: %v", k, m, a), func(c C) Action {
		if left == 0 || !m.Matches(c) {
			return Pass()
		}
		left--
		return a
	})
}

// Script does its actions to the operations that m matches, one each in order,
// and lets the rest pass.
func Script[C any](m Matcher[C], actions ...Action) Injector[C] {
	next := 0
	return newRule(fmt.Sprintf("%v: %v", m, actions), func(c C) Action {
		if next == len(actions) || !m.Matches(c) {
			return Pass()
		}
		next++
		return actions[next-1]
	})
}

// Random does one of actions, by lot, to a share p of the operations that m
// matches. Equal seeds decide equally for equal sequences of operations.
func Random[C any](seed uint64, p float64, m Matcher[C], actions ...Action) Injector[C] {
	r := rand.New(rand.NewPCG(seed, 0))
	return newRule(fmt.Sprintf("seed %d, share %g of %v: %v", seed, p, m, actions), func(c C) Action {
		if len(actions) == 0 || !m.Matches(c) || r.Float64() >= p {
			return Pass()
		}
		return actions[r.IntN(len(actions))]
	})
}

// StopAfter lets n operations pass and answers ErrStopped to all that follow,
// which have no effect: what they look like if the process dies just
// before operation number n. Shared by several disks or targets, it stops all of them when one
// gets there.
func StopAfter[C Numbered](n int) Injector[C] {
	stopped := false
	return newRule(fmt.Sprintf("stop after %d operations", n), func(c C) Action {
		if stopped = stopped || c.Number() >= n; !stopped {
			return Pass()
		}
		return Before(ErrStopped)
	})
}

// ForEach calls run with the Injector that make returns for 0, 1, 2 …, until one
// has not fired, and returns how many have: with Nth or StopAfter each operation
// of run is reached once. A caller checks that there were some.
func ForEach[C any](make func(n int) Injector[C], run func(n int, inj Injector[C])) int {
	for n := 0; ; n++ {
		inj := make(n)
		run(n, inj)
		if inj.Fired() == 0 {
			return n
		}
	}
}

// StopWhen answers ErrStopped from the moment at which dead is true, as when
// the process's death is decided elsewhere.
func StopWhen[C any](dead func() bool) Injector[C] {
	stopped := false
	return newRule("stop when the process is dead", func(C) Action {
		if stopped = stopped || dead(); !stopped {
			return Pass()
		}
		return Before(ErrStopped)
	})
}

// Switch is an Injector that is asked only while it is on.
type Switch[C any] struct {
	Injector[C]
	mu sync.Mutex
	on bool
}

// NewSwitch returns inj, switched off.
func NewSwitch[C any](inj Injector[C]) *Switch[C] { return &Switch[C]{Injector: inj} }

// Set switches on or off.
func (s *Switch[C]) Set(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = on
}

// Decide lets everything pass while the switch is off.
func (s *Switch[C]) Decide(c C) Action {
	s.mu.Lock()
	on := s.on
	s.mu.Unlock()
	if !on {
		return Pass()
	}
	return s.Injector.Decide(c)
}

// first asks its injectors in turn.
type first[C any] []Injector[C]

// First does what the first of its injectors does that doesn't let an operation
// pass. Those after it aren't asked.
func First[C any](injectors ...Injector[C]) Injector[C] { return first[C](injectors) }

func (f first[C]) Decide(c C) Action {
	for _, inj := range f {
		if a := inj.Decide(c); a.Kind != Passes {
			return a
		}
	}
	return Pass()
}

func (f first[C]) Fired() (n int) {
	for _, inj := range f {
		n += inj.Fired()
	}
	return n
}

func (f first[C]) String() string {
	names := make([]string, len(f))
	for i, inj := range f {
		names[i] = inj.String()
	}
	return "first of (" + strings.Join(names, "; ") + ")"
}
