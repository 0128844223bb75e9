package hdfsfs

import (
	"errors"
	"net"
	"time"
)

// conn is a connection of a session's. It ends at its first error, since what
// follows on it can't be paired with what was asked: a late answer would be
// taken for another call's.
type conn struct {
	net.Conn
	session  *session
	nameNode bool
	timeout  time.Duration
	answers  frames // of a NameNode
}

// Read reads with a deadline. On a NameNode's connection that is the last
// request's, so that an answer in small pieces has to come in time as a whole;
// on a DataNode's each read has its own. There nobody reads before something
// was sent that has an answer.
func (c *conn) Read(p []byte) (int, error) {
	if !c.nameNode {
		if err := c.Conn.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
			return 0, c.failed(err)
		}
	}
	n, err := c.Conn.Read(p)
	if err == nil && c.nameNode {
		c.session.asked.Store(0)
		err = c.answers.pass(p[:n])
	}
	if err != nil {
		return n, c.failed(err)
	}
	return n, nil
}

// Write writes with a deadline.
func (c *conn) Write(p []byte) (int, error) {
	set := c.Conn.SetWriteDeadline
	if c.nameNode {
		set = c.Conn.SetDeadline // the answer's too
	}
	if err := set(time.Now().Add(c.timeout)); err != nil {
		return 0, c.failed(err)
	}
	if c.nameNode {
		c.session.asked.Store(time.Now().UnixNano())
	}
	n, err := c.Conn.Write(p)
	if err != nil {
		return n, c.failed(err)
	}
	return n, nil
}

func (c *conn) failed(err error) error {
	c.Close()
	return err
}

// Close closes the connection and forgets it. The library closes a NameNode's
// when that says that it is a standby.
func (c *conn) Close() error {
	if c.nameNode {
		c.session.broken.Store(true)
	}
	c.session.mu.Lock()
	delete(c.session.conns, c)
	c.session.mu.Unlock()
	return c.Conn.Close()
}

// The library sets and clears deadlines that nobody asked it for. Those of Read
// and Write are all there are.

func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// maxAnswer is the most that Hadoop's own clients take (their default for
// ipc.maximum.response.length).
const maxAnswer = 128 << 20

var errNotHadoop = errors.New("what answers there doesn't speak Hadoop's RPC: see that the port is the NameNode's RPC port, and not that of its web pages")

// frames follows the frames of a NameNode's answers, each four bytes of length
// and so many more. The client library makes room for whatever length it is
// told.
type frames struct {
	length uint32
	digits int    // of length
	body   uint32 // bytes to come
}

func (f *frames) pass(p []byte) error {
	for len(p) > 0 {
		if f.body > 0 {
			n := min(f.body, uint32(len(p)))
			f.body -= n
			p = p[n:]
			continue
		}
		f.length = f.length<<8 | uint32(p[0])
		p = p[1:]
		if f.digits++; f.digits < 4 {
			continue
		}
		if f.length > maxAnswer {
			return errNotHadoop
		}
		*f = frames{body: f.length}
	}
	return nil
}
