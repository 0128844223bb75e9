package event

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Kind is the type of a raw msgpack value as far as formats tell types apart.
type Kind uint8

const (
	KindInvalid Kind = iota // no whole value
	KindNil
	KindBool
	KindInt  // a signed integer, or an unsigned one that an int64 holds
	KindUint // an integer above math.MaxInt64
	KindFloat32
	KindFloat64
	KindString
	KindBin
	KindExt
	KindArray
	KindMap
)

func (k Kind) String() string {
	names := [...]string{"invalid", "nil", "bool", "int", "uint", "float32", "float64", "string", "bin", "ext", "array", "map"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[KindInvalid]
}

// head is the decoded beginning of a value.
type head struct {
	kind  Kind
	start int // where the payload begins, behind the lead byte, the length and an ext's type
	size  int // payload bytes; of an array its elements, of a map its pairs
}

// readHead decodes the beginning of the value at b[0]. It guarantees that a
// scalar's payload lies within b, and nothing about what an array or map holds.
func readHead(b []byte) (h head, ok bool) {
	if len(b) == 0 {
		return h, false
	}
	c := b[0]
	switch {
	case c < 0x80 || c >= 0xe0:
		return head{KindInt, 1, 0}, true
	case c < 0x90:
		return head{KindMap, 1, int(c & 0x0f)}, true
	case c < 0xa0:
		return head{KindArray, 1, int(c & 0x0f)}, true
	case c < 0xc0:
		h = head{KindString, 1, int(c & 0x1f)}
	case c == 0xc1:
		return h, false
	default:
		l := leads[c-0xc0]
		n, fits := count(b, 1, l.field)
		if !fits {
			return h, false
		}
		h = head{kindOfLead(c), 1 + int(l.field), n + int(l.fixed)}
		switch h.kind {
		case KindArray, KindMap:
			return h, true
		case KindExt:
			h.start, h.size = h.start+1, h.size-1
		}
	}
	if h.start+h.size > len(b) {
		return head{}, false
	}
	if b[0] == 0xcf && b[1] >= 0x80 {
		h.kind = KindUint
	}
	return h, true
}

func kindOfLead(c byte) Kind {
	switch {
	case c == 0xc0:
		return KindNil
	case c <= 0xc3:
		return KindBool
	case c <= 0xc6:
		return KindBin
	case c <= 0xc9:
		return KindExt
	case c == 0xca:
		return KindFloat32
	case c == 0xcb:
		return KindFloat64
	case c <= 0xd3:
		return KindInt
	case c <= 0xd8:
		return KindExt
	case c <= 0xdb:
		return KindString
	case c <= 0xdd:
		return KindArray
	}
	return KindMap
}

// KindOf returns the kind of the value that raw begins with, KindInvalid if
// there is none or its scalar is cut short.
func KindOf(raw []byte) Kind {
	h, ok := readHead(raw)
	if !ok {
		return KindInvalid
	}
	return h.kind
}

// Text returns the content of a string or bin, aliasing raw. It isn't checked
// to be UTF-8.
func Text(raw []byte) (s []byte, ok bool) {
	h, ok := readHead(raw)
	if !ok || h.kind != KindString && h.kind != KindBin {
		return nil, false
	}
	return raw[h.start : h.start+h.size], true
}

// String returns a text: the content of a string, which isn't checked to be
// UTF-8, or of a bin that is valid UTF-8, since older senders and some libraries
// write texts as bin. It aliases raw.
func String(raw []byte) (s []byte, ok bool) {
	h, ok := readHead(raw)
	if !ok || h.kind != KindString && h.kind != KindBin {
		return nil, false
	}
	s = raw[h.start : h.start+h.size]
	return s, h.kind == KindString || utf8.Valid(s)
}

// AppendString appends a text as a raw string.
func AppendString(dst []byte, s string) []byte { return append(appendStringHead(dst, len(s)), s...) }

// appendStringHead appends what stands before a string of n bytes.
func appendStringHead(dst []byte, n int) []byte {
	switch {
	case n < 1<<5:
		return append(dst, 0xa0|byte(n))
	case n < 1<<8:
		return append(dst, 0xd9, byte(n))
	}
	return append(dst, 0xdb, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

// Ext returns type and data of an extension value, the data aliasing raw.
func Ext(raw []byte) (typ int8, data []byte, ok bool) {
	h, ok := readHead(raw)
	if !ok || h.kind != KindExt {
		return 0, nil, false
	}
	return int8(raw[h.start-1]), raw[h.start : h.start+h.size], true
}

// Bool returns a boolean.
func Bool(raw []byte) (v, ok bool) {
	if len(raw) == 0 || raw[0]&^1 != 0xc2 {
		return false, false
	}
	return raw[0] == 0xc3, true
}

// Int returns an integer that an int64 holds, however it is encoded.
func Int(raw []byte) (v int64, ok bool) {
	if h, ok := readHead(raw); !ok || h.kind != KindInt {
		return 0, false
	}
	return int64(integer(raw)), true
}

// Uint returns an integer that isn't negative, however it is encoded.
func Uint(raw []byte) (v uint64, ok bool) {
	h, ok := readHead(raw)
	if !ok || h.kind != KindInt && h.kind != KindUint {
		return 0, false
	}
	v = integer(raw)
	return v, h.kind == KindUint || int64(v) >= 0
}

// integer decodes the integer at raw, which is whole; a negative one comes as
// its two's complement.
func integer(raw []byte) uint64 {
	switch c := raw[0]; c {
	case 0xcc:
		return uint64(raw[1])
	case 0xcd:
		return uint64(binary.BigEndian.Uint16(raw[1:]))
	case 0xce:
		return uint64(binary.BigEndian.Uint32(raw[1:]))
	case 0xcf, 0xd3:
		return binary.BigEndian.Uint64(raw[1:])
	case 0xd0:
		return uint64(int64(int8(raw[1])))
	case 0xd1:
		return uint64(int64(int16(binary.BigEndian.Uint16(raw[1:]))))
	case 0xd2:
		return uint64(int64(int32(binary.BigEndian.Uint32(raw[1:]))))
	default:
		return uint64(int64(int8(c)))
	}
}

// Float returns a float32 or float64; an integer isn't converted.
func Float(raw []byte) (v float64, ok bool) {
	switch h, _ := readHead(raw); h.kind {
	case KindFloat32:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(raw[1:]))), true
	case KindFloat64:
		return math.Float64frombits(binary.BigEndian.Uint64(raw[1:])), true
	}
	return 0, false
}
