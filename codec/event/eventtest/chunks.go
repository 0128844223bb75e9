package eventtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Kubernetes is a chunk of n container log events with nested metadata and
// Chinese text, about 470 bytes each, one millisecond apart.
func Kubernetes(n int) []byte {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var b []byte
	for i := range n {
		b = Append(b, KubernetesEvent(i, start.Add(time.Duration(i)*time.Millisecond)))
	}
	return b
}

// KubernetesEvent is the i-th event of Kubernetes, which also is its id.
func KubernetesEvent(i int, at time.Time) []any {
	body := Map{
		"log", fmt.Sprintf("订单 %08d 已支付，用户“张伟”，金额 ¥%d.50，通知已发送", i, 100+i%900),
		"stream", "stdout",
		"level", [...]string{"info", "warn", "error"}[i%3],
		"id", i,
		"latency", 0.25 + float64(i%1000)/7,
		"ok", i%3 != 2,
		"kubernetes", Map{
			"pod_name", "checkout-5d9c7b6f4-x2v8q",
			"namespace_name", "shop",
			"container_name", "checkout",
			"host", "node-17.example",
			"pod_id", "3f2a8d1e-6f0b-4b52-9a55-0f8f0a7c1b23",
			"docker_id", "b1946ac92492d2347c6235b4d2611184",
			"labels", Map{"app", "checkout", "pod-template-hash", "5d9c7b6f4", "tier", "backend"},
		},
	}
	return Event(At(at.Unix(), uint32(at.Nanosecond())), Map{}, body)
}

// Plain is a chunk of n short events without nesting, ASCII only, as the tail
// of a text file gives them.
func Plain(n int) []byte {
	var b []byte
	for i := range n {
		b = Append(b, Event(At(1767225600+int64(i/100), uint32(i%100)*1e7), Map{},
			Map{"log", fmt.Sprintf("10.0.%d.%d - - \"GET /a/%d?q=x HTTP/1.1\" 200 %d", i>>8&255, i&255, i, 5000+i)}))
	}
	return b
}

// OTLP is a chunk of groups as Fluent Bit's OTLP input makes them: a header,
// perGroup events with metadata of their own, a footer.
func OTLP(groups, perGroup int) []byte {
	var b []byte
	id := 0
	for g := range groups {
		b = Append(b, GroupHeader(
			Map{"schema", "otlp", "resource_id", g, "scope_id", 0},
			Map{
				"resource", Map{"attributes", Map{"service.name", fmt.Sprintf("service-%d", g)}},
				"scope", Map{"name", "logger", "version", "1.0"},
			}))
		for range perGroup {
			b = Append(b, Event(At(1767225600, uint32(id)), Map{"otlp", Map{"severity_number", 9, "severity_text", "INFO"}},
				Map{"log", "hello", "id", id}))
			id++
		}
		b = Append(b, GroupFooter())
	}
	return b
}

// FromNDJSON packs each line's JSON object as the body of an event, keys in
// their order, repeated ones too. Numbers become integers where they are
// written as such. The events are one second apart, from 2026-01-01.
func FromNDJSON(r io.Reader) ([]byte, error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	var b []byte
	for sec := int64(1767225600); ; sec++ {
		t, err := d.Token()
		if err == io.EOF {
			return b, nil
		}
		var v any
		if err == nil {
			v, err = ordered(d, t)
		}
		if err != nil {
			return nil, fmt.Errorf("eventtest: object %d: %w", sec-1767225600, err)
		}
		b = Append(b, Event(At(sec, 0), Map{}, v))
	}
}

// ordered reads the rest of the value that begins with t.
func ordered(d *json.Decoder, t json.Token) (any, error) {
	switch t := t.(type) {
	case json.Delim:
		var list []any
		for d.More() {
			t, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := ordered(d, t)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		if t == '{' {
			return Map(list), nil
		}
		return list, nil
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n, nil
		}
		return t.Float64()
	}
	return t, nil
}

// Hostile is a named chunk that a careless reader mistakes, or dies of.
type Hostile struct {
	Name  string
	Chunk []byte
}

// HostileChunks are shapes that damage, other clients and attackers make. Each
// ends with a sound event where its beginning leaves it readable.
func HostileChunks() []Hostile {
	good := Pack(Event(At(1767225600, 5), Map{}, Map{"id", 1}))
	body := func(v any) []byte { return append(Pack(Event(At(1, 0), Map{}, Map{"v", v})), good...) }
	nest := func(head string, n int, tail string) Raw {
		return Raw(strings.Repeat(head, n) + tail)
	}
	huge := "\xdf\xff\xff\xff\xff"
	return []Hostile{
		{"empty", nil},
		{"zero byte between events", append(append(bytes.Clone(good), 0), good...)},
		{"zero bytes at the end", append(bytes.Clone(good), make([]byte, 100)...)},
		{"only zero bytes", make([]byte, 64)},
		{"nil at the top", append([]byte{0xc0}, good...)},
		{"the byte that msgpack never uses", append(bytes.Clone(good), 0xc1)},
		{"the byte that msgpack never uses in a record", body(Raw{0xc1})},
		{"cut inside a record", good[:len(good)-1]},
		{"cut inside the time", append(bytes.Clone(good), good[:6]...)},
		{"map of four billion pairs", append(bytes.Clone(good), "\x92\x92\xd7\x00\x00\x00\x00\x01\x00\x00\x00\x00\x80"+huge...)},
		{"array of four billion elements", append(bytes.Clone(good), 0xdd, 0xff, 0xff, 0xff, 0xff)},
		{"string of four billion bytes", append(bytes.Clone(good), 0xdb, 0xff, 0xff, 0xff, 0xff, 'a')},
		{"ext of four billion bytes", append(bytes.Clone(good), 0xc9, 0xff, 0xff, 0xff, 0xff, 'a')},
		{"maps of four billion pairs in one another", bytes.Repeat([]byte(huge), 1000)},
		{"60 arrays in one another", body(nest("\x91", 60, "\xc0"))},
		{"100000 arrays in one another", body(nest("\x91", 100000, "\xc0"))},
		{"100000 maps in one another", body(nest("\x81\xa1k", 100000, "\xc0"))},
		{"100000 arrays in one another, cut", nest("\x91", 100000, "")},
		{"maps as keys", body(Map{Map{"a", 1}, Map{Map{}, []any{}}})},
		{"keys of every type", body(Map{1, 1, -1, 2, nil, 3, true, 4, 1.5, 5, []byte("b"), 6, Ext{5, []byte("x")}, 7, []any{1}, 8, "", 9, uint64(1 << 63), 10})},
		{"a key twice", body(Map{"a", 1, "b", 2, "a", 3})},
		{"a key twice in two types", body(Map{"a", 1, []byte("a"), 2, 1, 3, "1", 4})},
		{"invalid UTF-8", body("\xff\xfe a\xc3 \xed\xa0\x80 \xf0\x9f\x98")},
		{"invalid UTF-8 in a key", body(Map{"\xff", 1, "\xfe", 2, "\uFFFD", 3})},
		{"control characters", body("\x00\x01\x1f\x7f\u0080\u2028\u2029\t\r\n\"\\/<>&")},
		{"every ext length", body([]any{Ext{-1, []byte{1, 2, 3, 4}}, Ext{3, make([]byte, 16)}, Ext{4, make([]byte, 8)}, Ext{5, make([]byte, 12)}, Ext{0, nil}, Ext{127, make([]byte, 70000)}})},
		{"footer without a header", append(Pack(GroupFooter()), good...)},
		{"header without a footer", append(Pack(GroupHeader(Map{"a", 1}, Map{"b", 2})), good...)},
		{"header in a group", append(Pack(GroupHeader(Map{}, Map{"b", 1}), GroupHeader(Map{}, Map{"b", 2})), good...)},
		{"header whose body is no map", append(Pack(GroupHeader(Map{}, nil)), good...)},
		{"header second with nanoseconds", append(Pack(Event(EventTime(0xffffffff, 1), Map{}, Map{})), good...)},
		{"body is no map", append(Pack(Event(At(1, 0), Map{}, "text")), good...)},
		{"metadata is no map", append(Pack(Event(At(1, 0), 5, Map{})), good...)},
		{"time is text", append(Pack(Event("2026-01-01", Map{}, Map{})), good...)},
		{"header of three", append(Pack([]any{[]any{1, Map{}, Map{}}, Map{}}), good...)},
		{"array of three", append(Pack([]any{1, Map{}, Map{}}), good...)},
	}
}
