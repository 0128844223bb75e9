package faultfs

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
)

// Injector decides what happens to each operation.
type Injector interface {
	// Decide is called once for each operation, before it, one at a time in
	// the order of their numbers.
	Decide(Call) Action
	// Fired is how many operations it has not let pass.
	Fired() int
	// String says what it does, for the text of a failing test.
	fmt.Stringer
}

// rule is an Injector made of a function.
type rule struct {
	name   string
	decide func(Call) Action

	mu    sync.Mutex
	fired int
}

// newRule returns an Injector that calls decide under a mutex.
func newRule(name string, decide func(Call) Action) *rule { return &rule{name: name, decide: decide} }

func (r *rule) Decide(c Call) Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.decide(c)
	if a.kind != pass {
		r.fired++
	}
	return a
}

func (r *rule) Fired() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fired
}

func (r *rule) String() string { return r.name }

// None lets everything pass, for counting.
func None() Injector { return newRule("none", func(Call) Action { return Pass() }) }

// Nth does a to operation number n, and to no other.
func Nth(n int, a Action) Injector {
	return newRule(fmt.Sprintf("#%d: %v", n, a), func(c Call) Action {
		if c.N != n {
			return Pass()
		}
		return a
	})
}

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

func (m Match) matches(c Call) bool {
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

// Every does a to every operation that m matches.
func Every(m Match, a Action) Injector {
	return newRule(fmt.Sprintf("every %v: %v", m, a), func(c Call) Action {
		if !m.matches(c) {
			return Pass()
		}
		return a
	})
}

// Times does a to the first k operations that m matches.
func Times(k int, m Match, a Action) Injector {
	left := k
	return newRule(fmt.Sprintf("first %d of %v: %v", k, m, a), func(c Call) Action {
		if left == 0 || !m.matches(c) {
			return Pass()
		}
		left--
		return a
	})
}

// Script does its actions to the operations that m matches, one each in order,
// and lets the rest pass.
func Script(m Match, actions ...Action) Injector {
	next := 0
	return newRule(fmt.Sprintf("%v: %v", m, actions), func(c Call) Action {
		if next == len(actions) || !m.matches(c) {
			return Pass()
		}
		next++
		return actions[next-1]
	})
}

// Random does one of actions, by lot, to a share p of the operations that m
// matches. Equal seeds decide equally for equal sequences of operations.
func Random(seed uint64, p float64, m Match, actions ...Action) Injector {
	r := rand.New(rand.NewPCG(seed, 0))
	return newRule(fmt.Sprintf("seed %d, share %g of %v: %v", seed, p, m, actions), func(c Call) Action {
		if len(actions) == 0 || !m.matches(c) || r.Float64() >= p {
			return Pass()
		}
		return actions[r.IntN(len(actions))]
	})
}

// StopAfter lets n operations pass and answers ErrStopped to all that follow,
// which have no effect: what the target looks like if the process dies just
// before operation number n. Shared by several Drivers, it stops all of them when one
// gets there.
func StopAfter(n int) Injector {
	stopped := false
	return newRule(fmt.Sprintf("stop after %d operations", n), func(c Call) Action {
		if stopped = stopped || c.N >= n; !stopped {
			return Pass()
		}
		return Action{kind: before, err: ErrStopped}
	})
}

// ForEach calls run with the Injector that make returns for 0, 1, 2 …, until one
// has not fired, and returns how many have: with Nth or StopAfter each operation
// of run is reached once. A caller checks that there were some.
func ForEach(make func(n int) Injector, run func(n int, inj Injector)) int {
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
func StopWhen(dead func() bool) Injector {
	stopped := false
	return newRule("stop when the process is dead", func(Call) Action {
		if stopped = stopped || dead(); !stopped {
			return Pass()
		}
		return Action{kind: before, err: ErrStopped}
	})
}

// Switch is an Injector that is asked only while it is on.
type Switch struct {
	Injector
	mu sync.Mutex
	on bool
}

// NewSwitch returns inj, switched off.
func NewSwitch(inj Injector) *Switch { return &Switch{Injector: inj} }

// Set switches on or off.
func (s *Switch) Set(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = on
}

// Decide lets everything pass while the switch is off.
func (s *Switch) Decide(c Call) Action {
	s.mu.Lock()
	on := s.on
	s.mu.Unlock()
	if !on {
		return Pass()
	}
	return s.Injector.Decide(c)
}

// first asks its injectors in turn.
type first []Injector

// First does what the first of its injectors does that doesn't let an operation
// pass. Those after it aren't asked.
func First(injectors ...Injector) Injector { return first(injectors) }

func (f first) Decide(c Call) Action {
	for _, inj := range f {
		if a := inj.Decide(c); a.kind != pass {
			return a
		}
	}
	return Pass()
}

func (f first) Fired() (n int) {
	for _, inj := range f {
		n += inj.Fired()
	}
	return n
}

func (f first) String() string {
	names := make([]string, len(f))
	for i, inj := range f {
		names[i] = inj.String()
	}
	return "first of (" + strings.Join(names, "; ") + ")"
}
