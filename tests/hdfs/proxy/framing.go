package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is what passed, whole.
type message struct {
	name   string
	bytes  []byte
	silent bool // part of a handshake: no rule is asked
	opaque bool // what follows isn't understood
}

// reader reads the next message of one direction. At the end of the stream it
// returns an error, and with it what was read of a message that is cut short.
type reader func(in *bufio.Reader) (message, error)

// framing makes the readers of a connection's two directions.
type framing interface {
	open() (requests, answers reader)
}

// maxFrame bounds what is kept of one message.
const maxFrame = 64 << 20

var errFrame = errors.New("a frame is too long")

// take reads n more bytes into m.
func (m *message) take(in *bufio.Reader, n int) ([]byte, error) {
	if n < 0 || len(m.bytes)+n > maxFrame {
		return nil, errFrame
	}
	at := len(m.bytes)
	m.bytes = append(m.bytes, make([]byte, n)...)
	k, err := io.ReadFull(in, m.bytes[at:])
	m.bytes = m.bytes[:at+k]
	return m.bytes[at:], err
}

// delimited reads a message with its length before it into m.
func (m *message) delimited(in *bufio.Reader) ([]byte, error) {
	for size, shift := uint64(0), 0; shift < 35; shift += 7 {
		b, err := m.take(in, 1)
		if err != nil {
			return nil, err
		}
		size |= uint64(b[0]&0x7f) << shift
		if b[0]&0x80 == 0 {
			return m.take(in, int(size))
		}
	}
	return nil, errFrame
}

// rpcFraming is Hadoop's RPC:
//
//	client: "hrpc" version class auth, then frames
//	frame:  length (4 bytes), header (delimited), further messages (delimited)
//
// A request's header has the call's number and is followed by one with the
// method's name. An answer's header has the number.
type rpcFraming struct{}

const authNone = 0

func (rpcFraming) open() (requests, answers reader) {
	c := &calls{methods: map[int64]string{}}
	greeted := false
	requests = func(in *bufio.Reader) (message, error) {
		if greeted {
			return c.request(in)
		}
		greeted = true
		m := message{silent: true}
		hello, err := m.take(in, 7)
		if err == nil && (string(hello[:4]) != "hrpc" || hello[6] != authNone) {
			m.opaque = true
			c.setOpaque()
		}
		return m, err
	}
	return requests, c.answer
}

// calls remembers which method a number is of.
type calls struct {
	mu      sync.Mutex
	methods map[int64]string
	opaque  bool
}

func (c *calls) setOpaque() {
	c.mu.Lock()
	c.opaque = true
	c.mu.Unlock()
}

func frame(in *bufio.Reader) (message, []byte, error) {
	var m message
	size, err := m.take(in, 4)
	if err != nil {
		return m, nil, err
	}
	body, err := m.take(in, int(binary.BigEndian.Uint32(size)))
	return m, body, err
}

func (c *calls) request(in *bufio.Reader) (message, error) {
	m, body, err := frame(in)
	if err != nil {
		return m, err
	}
	header, n := protowire.ConsumeBytes(body)
	if n < 0 {
		return m, protowire.ParseError(n)
	}
	id := protowire.DecodeZigZag(number(header, 3))
	if id < 0 { // the connection's context, or a ping
		m.silent = true
		return m, nil
	}
	method, n := protowire.ConsumeBytes(body[n:])
	if n < 0 {
		return m, protowire.ParseError(n)
	}
	m.name = text(method, 1)
	c.mu.Lock()
	c.methods[id] = m.name
	c.mu.Unlock()
	return m, nil
}

func (c *calls) answer(in *bufio.Reader) (message, error) {
	if _, err := in.Peek(1); err != nil { // by now the client's greeting has passed
		return message{}, err
	}
	c.mu.Lock()
	opaque := c.opaque
	c.mu.Unlock()
	if opaque {
		return message{silent: true, opaque: true}, nil
	}
	m, body, err := frame(in)
	if err != nil {
		return m, err
	}
	header, n := protowire.ConsumeBytes(body)
	if n < 0 {
		return m, protowire.ParseError(n)
	}
	id := int64(int32(number(header, 1)))
	c.mu.Lock()
	m.name = c.methods[id]
	delete(c.methods, id)
	c.mu.Unlock()
	return m, nil
}

// number and text are a message's field, 0 or "" if it isn't there.

func number(m []byte, field protowire.Number) uint64 {
	v, _ := find(m, field)
	return v
}

func text(m []byte, field protowire.Number) string {
	_, b := find(m, field)
	return string(b)
}

func find(m []byte, field protowire.Number) (v uint64, b []byte) {
	for len(m) > 0 {
		n, typ, k := protowire.ConsumeTag(m)
		if k < 0 {
			return v, b
		}
		m = m[k:]
		size := protowire.ConsumeFieldValue(n, typ, m)
		if size < 0 {
			return v, b
		}
		if n == field {
			switch typ {
			case protowire.VarintType:
				v, _ = protowire.ConsumeVarint(m)
			case protowire.BytesType:
				b, _ = protowire.ConsumeBytes(m)
			}
		}
		m = m[size:]
	}
	return v, b
}

// dataFraming is the DataNodes' protocol:
//
//	client: version (2 bytes) operation (1), request (delimited), then packets
//	packet: length (4 bytes), header's length (2), header, length-4 bytes more
//	server: answer (delimited), then acks (delimited)
type dataFraming struct{}

// operations are those that clients ask for.
var operations = map[byte]string{80: "WRITE_BLOCK", 81: "READ_BLOCK", 85: "BLOCK_CHECKSUM"}

const (
	dataVersion = 28
	// packetName is what the messages of a write are called, and their acks.
	packetName = "PACKET"
)

func (dataFraming) open() (requests, answers reader) {
	s := &stream{}
	return s.request, s.answer
}

// stream is a connection, on which there is one operation.
type stream struct {
	mu        sync.Mutex
	operation string
	opaque    bool
	asked     bool // request only
	answered  bool // answer only
}

func (s *stream) request(in *bufio.Reader) (message, error) {
	var m message
	if s.asked {
		m.name = packetName
		head, err := m.take(in, 6)
		if err != nil {
			return m, err
		}
		rest := int(binary.BigEndian.Uint32(head)) - 4 + int(binary.BigEndian.Uint16(head[4:]))
		_, err = m.take(in, rest)
		return m, err
	}
	s.asked = true
	head, err := m.take(in, 3)
	if err != nil {
		return m, err
	}
	name, known := operations[head[2]]
	known = known && binary.BigEndian.Uint16(head) == dataVersion
	s.mu.Lock()
	s.operation, s.opaque = name, !known
	s.mu.Unlock()
	if !known {
		m.silent, m.opaque = true, true
		return m, nil
	}
	m.name = name
	_, err = m.delimited(in)
	m.opaque = name != "WRITE_BLOCK"
	return m, err
}

func (s *stream) answer(in *bufio.Reader) (message, error) {
	if _, err := in.Peek(1); err != nil { // by now the request has passed
		return message{}, err
	}
	s.mu.Lock()
	operation, opaque := s.operation, s.opaque
	s.mu.Unlock()
	if opaque {
		return message{silent: true, opaque: true}, nil
	}
	m := message{name: packetName}
	if !s.answered {
		s.answered = true
		m.name = operation
		m.opaque = operation != "WRITE_BLOCK"
	}
	if _, err := m.delimited(in); err != nil {
		return m, fmt.Errorf("answer to %s: %w", operation, err)
	}
	return m, nil
}
