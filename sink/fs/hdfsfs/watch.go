package hdfsfs

import (
	"context"
	"fmt"
	"time"
)

// hung is how long a NameNode may leave a request without an answer before it is
// asked elsewhere who is active, if there are several.
const hung = 5 * time.Second

// watch ends the session when its NameNode hangs and another one is active by
// now: a process that is stopped, or a machine that is cut off, would hold up
// the call until its time is over. The caller calls stop when the call is over.
func (p *pool) watch(ctx context.Context, s *session) (stop func()) {
	if len(p.addresses) == 1 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause(ctx, hung) == nil {
			if s.waiting() < hung {
				continue
			}
			if other := p.elsewhere(ctx, s.address); other != "" && s.waiting() >= hung {
				s.kill(fmt.Errorf("NameNode %s doesn't answer, and %s is the active one by now", s.address, other))
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// elsewhere returns which of the other NameNodes is active, "" if none. The session
// that this took waits for the next call.
func (p *pool) elsewhere(ctx context.Context, address string) string {
	var others []string
	for _, a := range p.addresses {
		if a != address {
			others = append(others, a)
		}
	}
	s, err := p.race(ctx, others)
	if err != nil {
		return ""
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		s.close()
		return ""
	}
	p.busy[s] = struct{}{}
	p.preferred = s.address
	p.mu.Unlock()
	p.give(s)
	return s.address
}
