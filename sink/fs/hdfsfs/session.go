package hdfsfs

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

// session is a client that one call at a time has to itself. The client also
// renews its leases by a goroutine of its own, on the same connection to the
// NameNode, until close.
type session struct {
	c      config
	client *hdfs.Client
	x      executor
	born   time.Time
	expire *time.Timer // while idle

	ctx  context.Context // ends with kill
	end  context.CancelCauseFunc
	once sync.Once // closing

	// dials counts connections to NameNodes. As long as it stays the same, and
	// the session isn't broken, there is one connection to one NameNode.
	dials   atomic.Int64
	broken  atomic.Bool // a connection to a NameNode failed: never used again
	address atomic.Value

	mu    sync.Mutex
	conns map[*conn]struct{} // open ones, to be cut; nil after kill
}

// openSession connects. The NameNode is heard only at the first call.
func openSession(ctx context.Context, c config, preferred string) (*session, error) {
	s := &session{c: c, born: time.Now(), conns: map[*conn]struct{}{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	defer s.until(ctx)()
	client, err := hdfs.NewClient(hdfs.ClientOptions{
		Addresses:              preferredFirst(c.addresses, preferred),
		User:                   c.user,
		UseDatanodeHostname:    c.useHostname,
		NamenodeDialFunc:       s.dialNameNode,
		DatanodeDialFunc:       s.dialDataNode,
		DataTransferProtection: c.security.Protection,
	})
	if err != nil {
		s.close()
		return nil, err
	}
	s.client, s.x = client, executorOf(client)
	return s, nil
}

// preferredFirst moves the NameNode that was active last time to the front. The
// client asks them in order.
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

// until kills the session when ctx ends, unless the returned function was
// called before. Once that has returned, no kill of this ctx's is still to
// come: the next user of the session has another ctx.
func (s *session) until(ctx context.Context) (stop func()) {
	kill := func() { s.kill(context.Cause(ctx)) }
	stopped := context.AfterFunc(ctx, kill)
	return func() {
		if !stopped() { // it may be about to run
			kill()
		}
	}
}

// kill cuts all connections, now and later. Whoever is inside the client gets
// errors at once.
func (s *session) kill(why error) {
	s.broken.Store(true)
	s.end(why)
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	for c := range conns {
		c.Conn.Close() // it fails at most because it is closed already
	}
}

// close kills the session and ends the client's goroutine. It returns in
// bounded time, since no connection is left to wait for.
func (s *session) close() {
	s.once.Do(func() {
		s.kill(net.ErrClosed)
		if s.client != nil { // it was connected
			_ = s.client.Close() // of a connection that is closed
		}
	})
}

// dialError is that no connection was made, so that nothing was sent on it.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// The client dials without a ctx of the call, so the session's is used.

func (s *session) dialNameNode(_ context.Context, network, address string) (net.Conn, error) {
	s.dials.Add(1)
	s.address.Store(address)
	return s.dial(network, address, &conn{session: s, nameNode: true, timeout: s.c.callTimeout})
}

func (s *session) dialDataNode(_ context.Context, network, address string) (net.Conn, error) {
	return s.dial(network, address, &conn{session: s, timeout: s.c.dataTimeout})
}

func (s *session) dial(network, address string, c *conn) (net.Conn, error) {
	d := net.Dialer{Timeout: s.c.connectTimeout}
	raw, err := d.DialContext(s.ctx, network, address)
	if err != nil {
		if cause := context.Cause(s.ctx); cause != nil {
			err = cause
		}
		return nil, &dialError{err}
	}
	c.Conn = raw
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		raw.Close() // it wasn't used
		return nil, &dialError{fmt.Errorf("dial %s: %w", address, context.Cause(s.ctx))}
	}
	s.conns[c] = struct{}{}
	return c, nil
}
