package schema

import (
	"strconv"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// Coercer turns msgpack values into those of columns, as far as its rules
// allow. Each method takes the column's type and the raw value, which isn't
// nil; ok is false if the value doesn't fit. Which method a type needs is
// MethodOf's answer. One goroutine uses a Coercer at a time.
//
// Bytes that a method returns are the value's own or live until Reset.
type Coercer struct {
	Rules Rules

	json  json.Appender
	arena []byte // what values were turned into
	pairs []Pair // of all maps that are open, the innermost last
}

// keepArena is how much of its memory a Coercer keeps, in bytes.
const keepArena = 1 << 20

// Reset ends the life of all bytes that were returned.
func (c *Coercer) Reset() {
	if cap(c.arena) > keepArena {
		c.arena = nil
	}
	c.arena = c.arena[:0]
}

// Fits reports whether the value can be any of the type's at all as far as its
// shape is concerned: an array for an array, a map for a map or record.
func Fits(t *Type, raw []byte) bool {
	k := event.KindOf(raw)
	switch t.Kind {
	case Array:
		return k == event.KindArray
	case Map, RecordKind:
		return k == event.KindMap
	}
	return true
}

// Bool converts to a Boolean. Lenient: 0 and 1, "true" and "false".
func (c *Coercer) Bool(raw []byte) (v, ok bool) {
	if v, ok = event.Bool(raw); ok || c.Rules != Lenient {
		return v, ok
	}
	if n, ok := event.Int(raw); ok {
		return n == 1, n == 0 || n == 1
	}
	switch s, _ := event.Text(raw); string(s) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// Text converts to a String that isn't a UUID's: valid UTF-8, each invalid
// byte as U+FFFD. But under Strict, numbers and the like become their text,
// bin base64, and what has parts JSON.
func (c *Coercer) Text(t *Type, raw []byte) (s []byte, ok bool) {
	kind := event.KindOf(raw)
	if kind == event.KindString {
		s, _ = event.Text(raw)
		if t.Logical == UUID && !isUUID(s) {
			return nil, false
		}
		if utf8.Valid(s) {
			return s, true
		}
	} else if c.Rules == Strict && t.Logical != FreeForm || t.Logical == UUID {
		return nil, false
	}
	from := len(c.arena)
	switch kind {
	case event.KindArray, event.KindMap:
		c.arena, ok = c.appendJSON(c.arena, raw)
	case event.KindExt:
		var at event.Time
		if at, ok = instantOf(raw); ok && c.Rules != Learned {
			c.arena = appendInstant(c.arena, at)
		} else {
			c.arena, ok = c.appendJSON(c.arena, raw)
		}
	default:
		c.arena, kind = event.AppendScalar(c.arena, raw)
		ok = kind != event.KindInvalid
	}
	return c.arena[from:len(c.arena):len(c.arena)], ok
}

// JSON is any value as JSON.
func (c *Coercer) JSON(raw []byte) (s []byte, ok bool) {
	from := len(c.arena)
	c.arena, ok = c.appendJSON(c.arena, raw)
	return c.arena[from:len(c.arena):len(c.arena)], ok
}

func (c *Coercer) appendJSON(dst, raw []byte) ([]byte, bool) {
	out, err := c.json.AppendValue(dst, raw)
	return out, err == nil
}

// Bytes converts to Bytes. Lenient: the bytes of a string.
func (c *Coercer) Bytes(raw []byte) (b []byte, ok bool) {
	if event.KindOf(raw) == event.KindString && c.Rules != Lenient {
		return nil, false
	}
	return event.Text(raw)
}

// Fixed converts to a Fixed, of exactly the type's size.
func (c *Coercer) Fixed(t *Type, raw []byte) (b []byte, ok bool) {
	b, ok = c.Bytes(raw)
	return b, ok && len(b) == t.Size
}

// Symbol converts to an Enum: the symbol's index.
func (c *Coercer) Symbol(t *Type, raw []byte) (i int, ok bool) {
	if event.KindOf(raw) != event.KindString {
		return 0, false
	}
	s, _ := event.Text(raw)
	for i, symbol := range t.Symbols {
		if symbol == string(s) {
			return i, true
		}
	}
	return 0, false
}

// isUUID reports whether s looks as RFC 9562 writes a UUID, in either case.
func isUUID(s []byte) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// Reason says why a value doesn't fit: what it is, its beginning, and what it
// should be.
func Reason(t *Type, raw []byte) string {
	kind := event.KindOf(raw)
	if kind == event.KindInvalid || kind == event.KindNil {
		return "there is no value, and " + article(t.String()) + " is required"
	}
	shown, _ := event.AppendScalar(nil, raw)
	text := ""
	if len(shown) > 0 {
		const most = 40
		if len(shown) > most {
			text = " " + strconv.Quote(string(event.AppendValidUTF8(nil, shown[:most]))) + "…"
		} else {
			text = " " + strconv.Quote(string(shown))
		}
	}
	return article(kind.String()) + text + " doesn't fit " + article(t.describe())
}

func article(noun string) string {
	switch noun[0] {
	case 'a', 'e', 'i', 'o', 'u':
		if noun != "union" && noun != "uuid" && noun != "uint" {
			return "an " + noun
		}
	}
	return "a " + noun
}

// describe is String with what makes the type narrow.
func (t *Type) describe() string {
	switch {
	case t.Logical == Decimal:
		return "decimal(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
	case t.Kind == Fixed:
		return "fixed of " + strconv.Itoa(t.Size) + " bytes"
	case t.Kind == Enum:
		return "enum " + t.Name
	}
	return t.String()
}

// Memory is what the Coercer holds now, in bytes.
func (c *Coercer) Memory() int64 { return int64(cap(c.arena)) + int64(cap(c.pairs))*pairSize }
