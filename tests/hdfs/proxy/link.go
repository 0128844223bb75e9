package proxy

import (
	"bufio"
	"io"
	"net"
	"sync"
	"time"
)

// link is a client's connection and the one that was made for it.
type link struct {
	proxy  *Proxy
	client net.Conn
	server net.Conn
	done   chan struct{} // closed by cut
	once   sync.Once
}

// cut resets both connections: what they still hold is lost.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.done)
		for _, c := range []net.Conn{l.client, l.server} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // else it closes as usual, which also cuts
			}
			c.Close()
		}
	})
}

// run forwards both ways until either side ends, and then cuts the other.
func (l *link) run(f framing) {
	requests, answers := f.open()
	var both sync.WaitGroup
	both.Go(func() { l.forward(Request, l.client, l.server, requests) })
	both.Go(func() { l.forward(Answer, l.server, l.client, answers) })
	both.Wait()
}

// forward passes messages on as the rules say.
func (l *link) forward(side Side, from, to net.Conn, next reader) {
	defer l.cut()
	in := bufio.NewReaderSize(from, 128<<10)
	for {
		m, err := next(in)
		if err != nil {
			// Half a message, if any, is passed on as it came.
			_, _ = to.Write(m.bytes)
			return
		}
		do, hold := Pass, time.Duration(0)
		if !m.silent {
			do, hold = l.proxy.decide(side, m.name)
		}
		switch do {
		case Cut:
			return
		case Swallow:
			continue
		case Delay:
			if !l.wait(hold) {
				return
			}
		}
		if _, err := to.Write(m.bytes); err != nil {
			return
		}
		if m.opaque { // nothing more is known of this direction
			_, _ = io.Copy(to, in)
			return
		}
	}
}

// wait waits, unless the link is cut before.
func (l *link) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.done:
		return false
	}
}
