package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
)

// session is a client of one NameNode, on one connection to it, that one call at
// a time has to itself. The client also renews its leases by a goroutine of its
// own, on the same connection, until close.
//
// The client library would go over to another NameNode by itself. It isn't let:
// it knows one address, and gets one connection. So all answers of a session are
// of one process, and a session whose connection has ended is over.
type session struct {
	c       config
	address string // of the NameNode
	client  *hdfs.Client
	x       executor
	born    time.Time
	expire  *time.Timer // while idle
	used    bool        // a call had it before

	ctx  context.Context // ends with kill
	end  context.CancelCauseFunc
	once sync.Once // closing

	dialed  atomic.Bool // the one connection to the NameNode was asked for
	refused error       // why it couldn't be made; the client's own error is but a text
	broken  atomic.Bool // that connection has failed or ended: never used again
	asked   atomic.Int64
	answers atomic.Int64 // calls that were answered well

	mu    sync.Mutex
	conns map[*conn]struct{} // open ones, to be cut; nil after kill
}

// openSession connects to the NameNode at address, which then must be the active
// one.
func openSession(ctx context.Context, c config, t *tickets, address string) (*session, error) {
	s := newSession(c, address)
	defer s.until(ctx)()
	o := hdfs.ClientOptions{
		Addresses:              []string{address},
		User:                   c.user,
		UseDatanodeHostname:    c.useHostname,
		NamenodeDialFunc:       s.dialNameNode,
		DatanodeDialFunc:       s.dialDataNode,
		DataTransferProtection: c.security.Protection,
	}
	if t != nil {
		ticket, err := t.get(ctx, address)
		if err != nil {
			s.close()
			return nil, err
		}
		o.KerberosClient, o.KerberosServicePrincipleName = ticket, t.service(address)
	}
	if err := s.connect(o); err != nil {
		s.close()
		if isKerberos(err) && t != nil {
			t.refused(o.KerberosClient)
		}
		return nil, err
	}
	return s, nil
}

// connect makes the connection and sees that the NameNode is the active one.
func (s *session) connect(o hdfs.ClientOptions) error {
	client, err := hdfs.NewClient(o)
	if err == nil {
		s.client, s.x = client, &counted{executorOf(client), s}
		err = checkActive(s.x, client.Name())
	}
	switch {
	case err == nil:
		return checkRPCProtection(client, s.c.security.RPCProtection)
	case s.refused != nil:
		return s.refused
	}
	return s.c.explainHandshake(err)
}

func newSession(c config, address string) *session {
	s := &session{c: c, address: address, born: time.Now(), conns: map[*conn]struct{}{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	return s
}

// counted counts the calls that a session's NameNode has answered well.
type counted struct {
	executor
	s *session
}

func (c *counted) Execute(method string, req, resp proto.Message) error {
	err := c.executor.Execute(method, req, resp)
	if err == nil {
		c.s.answers.Add(1)
	}
	return err
}

// waiting is for how long the NameNode has left a request without any answer, 0
// if it owes none.
func (s *session) waiting() time.Duration {
	since := s.asked.Load()
	if since == 0 {
		return 0
	}
	return time.Since(time.Unix(0, since))
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

// errSecondConnection refuses the library another connection to the NameNode.
var errSecondConnection = errors.New("the connection to the NameNode has ended")

func (s *session) dialNameNode(_ context.Context, network, address string) (net.Conn, error) {
	if s.dialed.Swap(true) {
		return nil, &dialError{errSecondConnection}
	}
	c, err := s.dial(network, address, &conn{session: s, nameNode: true, timeout: s.c.callTimeout})
	if err != nil {
		s.refused = err // NewClient, in which this is, hasn't returned yet
	}
	return c, err
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
