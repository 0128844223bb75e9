package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/retry"
)

// Which NameNode is active only they know, and it changes: an operator or a
// failover controller makes another one so, a standby takes over from one that
// died or hangs. A session is on one that said that it is active when it was
// opened. Nothing follows from that: what must be right rests on an edit that
// was acknowledged (Locate).

const (
	// stagger is how long one NameNode may take to say whether it is active before
	// the next is asked too: one that hangs would hold up everything.
	stagger = time.Second
	// takeover is for how long a call waits for a NameNode to become active, if
	// there are several. A failover mostly takes a few seconds.
	takeover = 20 * time.Second
	// longestLook is the longest pause between two looks for an active NameNode.
	longestLook = 3 * time.Second
)

// find opens a session on the active NameNode. With several it looks again and
// again until the time is over.
func (p *pool) find(ctx context.Context, until time.Time) (*session, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.life, func() { cancel(os.ErrClosed) })()
	var b retry.Backoff
	for {
		p.mu.Lock()
		preferred := p.preferred
		p.mu.Unlock()
		s, err := p.race(ctx, preferredFirst(p.addresses, preferred))
		wait := min(b.Next(), longestLook)
		if err == nil || len(p.addresses) == 1 || ctx.Err() != nil || !awaited(err) || time.Now().Add(wait).After(until) {
			return s, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// preferredFirst moves the NameNode that was active last time to the front.
func preferredFirst(addresses []string, preferred string) []string {
	if !slices.Contains(addresses, preferred) {
		return addresses
	}
	out := []string{preferred}
	for _, a := range addresses {
		if a != preferred {
			out = append(out, a)
		}
	}
	return out
}

// attempt is what came of one NameNode.
type attempt struct {
	address string
	s       *session
	err     error
}

// race asks the NameNodes in turn, the next one when one has refused or has taken
// long, and returns a session on the first that is active. It waits for all that
// it began, which end at once when one is found.
func (p *pool) race(ctx context.Context, addresses []string) (*session, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan attempt, len(addresses))
	next, running := 0, 0
	begin := func() {
		address := addresses[next]
		next, running = next+1, running+1
		go func() {
			s, err := p.open(inner, address)
			results <- attempt{address, s, err}
		}()
	}
	begin()
	timer := time.NewTimer(stagger)
	defer timer.Stop()
	var won *session
	failed := &noNameNodeError{}
	for running > 0 {
		select {
		case r := <-results:
			running--
			switch {
			case r.err != nil:
				failed.attempts = append(failed.attempts, r)
			case won != nil:
				r.s.close()
			default:
				won = r.s
				cancel()
			}
			if won == nil && next < len(addresses) && ctx.Err() == nil {
				begin()
				timer.Reset(stagger)
			}
		case <-timer.C:
			if won == nil && next < len(addresses) {
				begin()
				timer.Reset(stagger)
			}
		}
	}
	if won != nil {
		return won, nil
	}
	return nil, failed.decisive()
}

// decisive is the error of a NameNode that refuses this client whatever state it
// is in, if there is one: the others' say less.
func (e *noNameNodeError) decisive() error {
	for _, a := range e.attempts {
		var remote hdfs.Error
		var judged *fs.Error
		if errors.As(a.err, &judged) {
			return a.err
		}
		if errors.As(a.err, &remote) && exceptions[remote.Exception()].advice != "" && !isStandby(a.err) {
			return fmt.Errorf("%s: %w", a.address, a.err)
		}
	}
	return e
}

// awaited reports whether an error of race is one that a failover ends.
func awaited(err error) bool {
	var none *noNameNodeError
	return errors.As(err, &none)
}

// noNameNodeError is that no NameNode could be reached that is active. Nothing was
// asked of one but whether it is.
type noNameNodeError struct{ attempts []attempt }

func (e *noNameNodeError) Error() string {
	var all []string
	for _, a := range e.attempts {
		if isStandby(a.err) {
			all = append(all, a.address+" is a standby")
			continue
		}
		all = append(all, fmt.Sprintf("%s: %v", a.address, plainly(a.err)))
	}
	text := strings.Join(all, "; ")
	if len(e.attempts) > 1 {
		text = "no NameNode is active: " + text
	}
	return text
}

func (e *noNameNodeError) Unwrap() (all []error) {
	for _, a := range e.attempts {
		all = append(all, a.err)
	}
	return all
}

// advice is what an operator can do.
func (e *noNameNodeError) advice() string {
	if slices.ContainsFunc(e.attempts, func(a attempt) bool { return isKerberos(a.err) }) {
		return "" // it is in the error
	}
	if slices.ContainsFunc(e.attempts, func(a attempt) bool { return isStandby(a.err) }) {
		return adviceActive
	}
	return adviceAddress
}

// These are the answers of a NameNode that isn't active: of a standby to
// everything, of an observer to what would change something. An observer answers
// questions, and may be behind.
const (
	standbyException  = "org.apache.hadoop.ipc.StandbyException"
	observerException = "org.apache.hadoop.ipc.ObserverRetryOnActiveException"
)

// isStandby reports whether a NameNode refused a call since it isn't active. After
// a StandbyException the library has tried the call elsewhere, found nobody, and
// leaves the exception's name in a text only.
func isStandby(err error) bool {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		return remote.Exception() == standbyException || remote.Exception() == observerException
	}
	return err != nil && strings.Contains(err.Error(), noNamenodes) && strings.Contains(err.Error(), standbyException)
}

// plainly is an exception in words, and any other error as it is.
func plainly(err error) error {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		return &remoteError{err, remote, ""}
	}
	return err
}
