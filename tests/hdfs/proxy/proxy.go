// Package proxy stands between a client and an HDFS cluster and does to chosen
// messages what networks do: it cuts the connection, swallows the message, or
// delays it.
//
// It reads Hadoop's framing to know what passes. On the way to a NameNode a
// message is named by its RPC method, "rename2", and an answer by the method
// that it answers. On the way to a DataNode requests are named by their
// operation, "WRITE_BLOCK" and "READ_BLOCK", as are their answers; what follows
// a WRITE_BLOCK is "PACKET", whose answers are acks. Connections whose framing
// it doesn't know (Kerberos, encryption) pass with nothing named.
//
//	p, err := proxy.NameNode(cluster.NameNode().Addr(), "127.0.0.1:0")
//	p.Add(proxy.Rule{Message: "rename2", Side: proxy.Answer, Nth: 1, Do: proxy.Cut})
//
// A Proxy is safe for concurrent use. Close ends all its connections and
// goroutines.
package proxy

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Side is the direction of a message.
type Side int

const (
	Request Side = iota // from the client
	Answer              // to the client
)

func (s Side) String() string { return [...]string{"request", "answer"}[s] }

// Action is what happens to a message.
type Action int

const (
	// Pass lets it through. A Rule that passes only counts.
	Pass Action = iota
	// Cut closes both connections and loses the message: a request was never
	// seen, an answer is to something that happened.
	Cut
	// Swallow loses the message and leaves the connections open.
	Swallow
	// Delay holds the message, and those behind it, for the rule's For.
	Delay
)

func (a Action) String() string { return [...]string{"pass", "cut", "swallow", "delay"}[a] }

// Rule is a fault.
type Rule struct {
	Message string // "" is any, also one without a name
	Side    Side
	Nth     int // of those that match, from 1; 0 is every one
	Do      Action
	For     time.Duration // of Delay
}

func (r Rule) String() string {
	return fmt.Sprintf("%v %v %d of %s", r.Do, r.Side, r.Nth, r.Message)
}

// Count follows a rule.
type Count struct {
	rule  Rule
	mu    sync.Mutex
	seen  int
	fired int
}

// Seen is how many messages matched.
func (c *Count) Seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// Fired is to how many of them the rule did something.
func (c *Count) Fired() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fired
}

func (c *Count) match(side Side, message string) (Action, time.Duration) {
	if c.rule.Side != side || c.rule.Message != "" && c.rule.Message != message {
		return Pass, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen++
	if c.rule.Do == Pass || c.rule.Nth != 0 && c.rule.Nth != c.seen {
		return Pass, 0
	}
	c.fired++
	return c.rule.Do, c.rule.For
}

// Proxy forwards connections from one address to another.
type Proxy struct {
	to       string
	frames   framing
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	counts []*Count
	open   map[*link]struct{}
	down   bool
	closed bool
}

// NameNode listens on listen, such as "127.0.0.1:0", in front of a NameNode.
func NameNode(to, listen string) (*Proxy, error) { return start(to, listen, rpcFraming{}) }

// DataNode listens on listen in front of a DataNode.
func DataNode(to, listen string) (*Proxy, error) { return start(to, listen, dataFraming{}) }

func start(to, listen string, f framing) (*Proxy, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("proxy for %s: %w", to, err)
	}
	p := &Proxy{to: to, frames: f, listener: l, open: map[*link]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where it listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Add adds a rule. Rules are asked in their order, and the first that does
// something is the only one.
func (p *Proxy) Add(r Rule) *Count {
	c := &Count{rule: r}
	p.mu.Lock()
	p.counts = append(p.counts, c)
	p.mu.Unlock()
	return c
}

// Reset drops all rules.
func (p *Proxy) Reset() {
	p.mu.Lock()
	p.counts = nil
	p.mu.Unlock()
}

// CutAll closes all connections. New ones are taken.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	links := p.open
	p.open = map[*link]struct{}{}
	p.mu.Unlock()
	for l := range links {
		l.cut()
	}
}

// Down makes the proxy refuse connections, by closing them at once, or ends
// that.
func (p *Proxy) Down(down bool) {
	p.mu.Lock()
	p.down = down
	p.mu.Unlock()
}

// Open is how many connections there are.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// Close ends everything and waits for it.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.CutAll()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // a second time
	}
	return err
}

// accept takes connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		client.Close()
		return
	}
	l := &link{proxy: p, client: client, server: server, done: make(chan struct{})}
	p.mu.Lock()
	refused := p.closed || p.down
	if !refused {
		p.open[l] = struct{}{}
	}
	p.mu.Unlock()
	if refused {
		l.cut()
		return
	}
	l.run(p.frames)
	p.mu.Lock()
	delete(p.open, l)
	p.mu.Unlock()
}

// decide asks the rules about a message.
func (p *Proxy) decide(side Side, message string) (Action, time.Duration) {
	p.mu.Lock()
	counts := p.counts
	p.mu.Unlock()
	do, hold := Pass, time.Duration(0)
	for _, c := range counts {
		if a, d := c.match(side, message); do == Pass { // the others count on
			do, hold = a, d
		}
	}
	return do, hold
}
