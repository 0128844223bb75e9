package hdfs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// RemoteError is an exception that the NameNode answered with.
type RemoteError struct {
	Method    string
	Exception string // the class's full name
	Message   string
}

func (e *RemoteError) Error() string {
	first, _, _ := strings.Cut(e.Message, "\n")
	return fmt.Sprintf("%s: %s: %s", e.Method, e.Exception, first)
}

// message is an encoded protocol buffer that is being built.
type message []byte

func (m message) text(n protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, n, protowire.BytesType), s)
}

func (m message) number(n protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, n, protowire.VarintType), v)
}

func (m message) message(n protowire.Number, s message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, n, protowire.BytesType), s)
}

// field is one of a decoded message: a number, or bytes.
type field struct {
	n      protowire.Number
	number uint64
	bytes  []byte
}

func fields(m []byte) ([]field, error) {
	var out []field
	for len(m) > 0 {
		n, typ, k := protowire.ConsumeTag(m)
		if k < 0 {
			return nil, protowire.ParseError(k)
		}
		m = m[k:]
		f := field{n: n}
		switch typ {
		case protowire.VarintType:
			f.number, k = protowire.ConsumeVarint(m)
		case protowire.BytesType:
			f.bytes, k = protowire.ConsumeBytes(m)
		default:
			k = protowire.ConsumeFieldValue(n, typ, m)
		}
		if k < 0 {
			return nil, protowire.ParseError(k)
		}
		m = m[k:]
		out = append(out, f)
	}
	return out, nil
}

// Hadoop's names of the interfaces that are called here.
const (
	clientProtocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol"
	haProtocol     = "org.apache.hadoop.ha.HAServiceProtocol"
)

// call makes one RPC of a protocol as user, on a connection of its own.
func call(ctx context.Context, addr, user, protocol, method string, request message) ([]field, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return nil, err
	}
	// The NameNode takes the same client's same call for a repetition, and
	// answers from memory: so each call is another client's.
	var client [16]byte
	_, _ = rand.Read(client[:]) // never fails, see its documentation
	header := func(id int32) message {
		// Kind protocol buffers, operation "final packet", call, client.
		return message(nil).number(1, 2).number(2, 0).number(3, protowire.EncodeZigZag(int64(id))).message(4, client[:])
	}
	var out bytes.Buffer
	out.WriteString("hrpc\x09\x00\x00") // version 9, service class 0, no authentication
	out.Write(packet(header(-3), message(nil).message(2, message(nil).text(1, user)).text(3, protocol)))
	out.Write(packet(header(1), message(nil).text(1, method).text(2, protocol).number(3, 1), request))
	if _, err := conn.Write(out.Bytes()); err != nil {
		return nil, fmt.Errorf("%s: send: %w", method, err)
	}
	return answer(conn, method)
}

// packet frames delimited messages.
func packet(ms ...message) []byte {
	p := make([]byte, 4)
	for _, m := range ms {
		p = protowire.AppendBytes(p, m)
	}
	binary.BigEndian.PutUint32(p, uint32(len(p)-4))
	return p
}

func answer(r io.Reader, method string) ([]field, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, fmt.Errorf("%s: receive: %w", method, err)
	}
	p := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r, p); err != nil {
		return nil, fmt.Errorf("%s: receive: %w", method, err)
	}
	head, n := protowire.ConsumeBytes(p)
	if n < 0 {
		return nil, fmt.Errorf("%s: %w", method, protowire.ParseError(n))
	}
	fs, err := fields(head)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	remote := RemoteError{Method: method}
	failed := false
	for _, f := range fs {
		switch f.n {
		case 2:
			failed = f.number != 0
		case 4:
			remote.Exception = string(f.bytes)
		case 5:
			remote.Message = string(f.bytes)
		}
	}
	if failed {
		return nil, &remote
	}
	body, n := protowire.ConsumeBytes(p[n:])
	if n < 0 {
		return nil, fmt.Errorf("%s: %w", method, protowire.ParseError(n))
	}
	return fields(body)
}
