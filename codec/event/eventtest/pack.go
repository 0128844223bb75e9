// Package eventtest makes Fluent Bit chunks for tests and benchmarks: from Go
// values, from lines of JSON, at random, and in the shapes that break readers.
// Its own decoder shares no code with the real reader, so that one can be
// compared with the other.
package eventtest

import (
	"fmt"
	"sort"

	"github.com/tinylib/msgp/msgp"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Map is a msgpack map whose pairs keep their order: key, value, key, value.
// Keys may be of any type and may repeat.
type Map []any

// Ext is a msgpack extension value.
type Ext struct {
	Type int8
	Data []byte
}

// Raw is msgpack, or anything else, that is taken as it stands.
type Raw []byte

// EventTime packs sec and nsec as Fluent Bit's ext type 0, without a check.
func EventTime(sec, nsec uint32) Ext {
	return Ext{Type: 0, Data: []byte{
		byte(sec >> 24), byte(sec >> 16), byte(sec >> 8), byte(sec),
		byte(nsec >> 24), byte(nsec >> 16), byte(nsec >> 8), byte(nsec),
	}}
}

// Append packs v behind dst: nil, bool, any integer or float type, string,
// []byte (as bin), Map, map[string]any (keys sorted), []any, Ext, Raw, Wide and
// event.Time (as EventTime, nil if unset). It panics on other types, since
// only a test's author can cause that.
func Append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return msgp.AppendNil(dst)
	case Map:
		dst = msgp.AppendMapHeader(dst, uint32(len(v)/2))
		for _, x := range v[:len(v)/2*2] {
			dst = Append(dst, x)
		}
		return dst
	case map[string]any:
		return Append(dst, sorted(v))
	case []any:
		dst = msgp.AppendArrayHeader(dst, uint32(len(v)))
		for _, x := range v {
			dst = Append(dst, x)
		}
		return dst
	case string:
		return msgp.AppendString(dst, v)
	case []byte:
		return msgp.AppendBytes(dst, v)
	case Ext:
		dst, err := msgp.AppendExtension(dst, &msgp.RawExtension{Data: v.Data, Type: v.Type})
		if err != nil {
			panic(err)
		}
		return dst
	case Raw:
		return append(dst, v...)
	case Wide:
		return appendWide(dst, v.Value)
	case event.Time:
		if !v.Set {
			return msgp.AppendNil(dst)
		}
		return Append(dst, EventTime(uint32(v.Sec), v.Nsec))
	}
	return appendScalar(dst, v)
}

func appendScalar(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return msgp.AppendBool(dst, v)
	case int:
		return msgp.AppendInt(dst, v)
	case int64:
		return msgp.AppendInt64(dst, v)
	case uint32:
		return msgp.AppendUint32(dst, v)
	case uint64:
		return msgp.AppendUint64(dst, v)
	case float32:
		return msgp.AppendFloat32(dst, v)
	case float64:
		return msgp.AppendFloat64(dst, v)
	}
	panic(fmt.Sprintf("eventtest: %T can't be packed", v))
}

func sorted(m map[string]any) Map {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	pairs := make(Map, 0, 2*len(m))
	for _, k := range keys {
		pairs = append(pairs, k, m[k])
	}
	return pairs
}

// Pack packs values one behind the other.
func Pack(values ...any) []byte {
	var b []byte
	for _, v := range values {
		b = Append(b, v)
	}
	return b
}

// Event is the log event [[time, meta], body].
func Event(time, meta, body any) []any { return []any{[]any{time, meta}, body} }

// Legacy is the log event [time, body] of Fluent Bit before v2.
func Legacy(time, body any) []any { return []any{time, body} }

// GroupHeader opens a group of events.
func GroupHeader(meta, body any) []any {
	return Event(EventTime(0xffffffff, 0), meta, body)
}

// GroupFooter ends a group of events.
func GroupFooter() []any { return Event(EventTime(0xfffffffe, 0), Map{}, Map{}) }

// At is the time sec seconds after the epoch.
func At(sec int64, nsec uint32) event.Time { return event.Time{Sec: sec, Nsec: nsec, Set: true} }

// Read returns what a Reader yields for the chunk, each event a copy of its
// own, and the Rest if there is one. The events alias the chunk.
func Read(chunk []byte) (events []*event.Event, rest *event.Rest) {
	var r event.Reader
	r.Reset(chunk)
	for {
		e := new(event.Event)
		if !r.Next(e) {
			break
		}
		events = append(events, e)
	}
	if left, ok := r.Rest(); ok {
		rest = &left
	}
	return events, rest
}
