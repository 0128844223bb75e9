// Package convert turns one msgpack value into the value of a schema's type, as
// far as the schema's rules allow. docs/schemas.md has the table.
//
// A Converter has a method for each kind of type. Each takes the type and the
// raw value, which isn't empty; ok is false if the value doesn't fit, and Reason
// then says why. Bytes that a method returns are the value's own or live until
// Reset. One goroutine uses a Converter at a time.
//
// It never changes a value's meaning to make it fit: what would be cut off,
// rounded or guessed doesn't fit, unless the table says so.
package convert

import (
	"time"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Converter converts msgpack values to those of a type. The zero value is ready
// once its rules are set.
type Converter struct {
	Rules schema.Rules
	// Zone is whose local time a text without an offset is, and whose day a date
	// is; nil is UTC.
	Zone *time.Location
	// Arrival is that of the records' chunk, in Unix seconds: event.TimeReader says
	// what depends on it.
	Arrival int64

	json  json.Appender
	dates json.Dates // ISO 8601 in UTC with microseconds
	arena []byte     // what values were turned into
	pairs []Pair     // of all maps that are open, the innermost last
}

// keepArena is how much of its memory a Converter keeps, in bytes.
const keepArena = 1 << 20

// Reset ends the life of all bytes that were returned.
func (c *Converter) Reset() {
	if cap(c.arena) > keepArena {
		c.arena = nil
	}
	c.arena = c.arena[:0]
}

// Fits reports whether the value can be any of the type's at all as far as its
// shape is concerned: an array for an array, a map for a map or record.
func Fits(t *schema.Type, raw []byte) bool {
	k := event.KindOf(raw)
	switch t.Kind {
	case schema.Array:
		return k == event.KindArray
	case schema.Map, schema.RecordKind:
		return k == event.KindMap
	}
	return true
}

// Bool converts to a Boolean. Lenient: 0 and 1, "true" and "false".
func (c *Converter) Bool(raw []byte) (v, ok bool) {
	if v, ok = event.Bool(raw); ok || c.Rules != schema.Lenient {
		return v, ok
	}
	if n, ok := event.Int(raw); ok {
		return n == 1, n == 0 || n == 1
	}
	switch s, _ := event.String(raw); string(s) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// Text converts to a String: valid UTF-8, each invalid byte as U+FFFD. A bin
// that is text is that. But under Strict, numbers and the like become their
// text, other bin marked base64 (see event.BinMark), and what has parts JSON. A
// UUID's is text only.
func (c *Converter) Text(t *schema.Type, raw []byte) (s []byte, ok bool) {
	if s, ok = event.String(raw); ok {
		if t.Logical == schema.UUID && !isUUID(s) {
			return nil, false
		}
		if utf8.Valid(s) && !event.HasBinMark(s) {
			return s, true
		}
	} else if c.Rules == schema.Strict && t.Logical != schema.FreeForm || t.Logical == schema.UUID {
		return nil, false
	}
	from, kind := len(c.arena), event.KindOf(raw)
	switch kind {
	case event.KindArray, event.KindMap:
		c.arena, ok = c.appendJSON(c.arena, raw)
	case event.KindExt:
		var at event.Time
		if at, ok = event.Timestamp(raw); ok && c.Rules != schema.Learned {
			c.arena, _ = c.dates.AppendText(c.arena, at)
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
func (c *Converter) JSON(raw []byte) (s []byte, ok bool) {
	from := len(c.arena)
	c.arena, ok = c.appendJSON(c.arena, raw)
	return c.arena[from:len(c.arena):len(c.arena)], ok
}

func (c *Converter) appendJSON(dst, raw []byte) ([]byte, bool) {
	out, err := c.json.AppendValue(dst, raw)
	return out, err == nil
}

// Bytes converts to Bytes. Lenient: the bytes of a string.
func (c *Converter) Bytes(raw []byte) (b []byte, ok bool) {
	if event.KindOf(raw) == event.KindString && c.Rules != schema.Lenient {
		return nil, false
	}
	return event.Text(raw)
}

// Fixed converts to a Fixed, of exactly the type's size.
func (c *Converter) Fixed(t *schema.Type, raw []byte) (b []byte, ok bool) {
	b, ok = c.Bytes(raw)
	return b, ok && len(b) == t.Size
}

// Symbol converts to an Enum: the symbol's index.
func (c *Converter) Symbol(t *schema.Type, raw []byte) (i int, ok bool) {
	s, ok := event.String(raw)
	if !ok {
		return 0, false
	}
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

// Memory is what the Converter holds now, in bytes.
func (c *Converter) Memory() int64 { return int64(cap(c.arena)) + int64(cap(c.pairs))*pairSize }
