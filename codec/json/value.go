package json

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"strconv"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// ErrNoValue is wrapped when bytes hold no msgpack value that can be rendered:
// they are cut short, or nested deeper than event.MaxDepth.
var ErrNoValue = errors.New("no whole msgpack value, or one that is nested too deep")

// Appender renders msgpack values as JSON. The zero value is ready; reuse one,
// since it keeps its scratch memory. One goroutine uses it at a time.
//
//	nil, bool       null, true, false
//	integers        decimal, exact beyond 2^53 too
//	floats          shortest text that reads back the same, "1.0" for whole
//	                numbers; NaN and the infinities are null
//	string          as it is; an invalid byte is U+FFFD
//	bin             its text if it is valid UTF-8, else event.BinMark and base64
//	                in a string; a string that begins with the mark likewise
//	ext             {"type":5,"data":"base64"}, without the mark
//	map             an object; a key that isn't text is the text of its JSON
//
// Of a key that comes twice in a map the last is kept, as Fluent Bit does, for
// readers fail on it or pick one. Keys are compared as they are written: the
// integer 1 and the string "1" are the same key.
type Appender struct {
	members []member     // of all maps that are open, the innermost last
	table   []int32      // see rebuild
	seed    maphash.Seed // of the table; the zero value until first needed
	keyText []byte       // JSON of a key that is no text
	last    int          // index behind the object that was rendered last
	repeats repeats
}

// AppendValue appends the value that raw begins with. If there is none, dst
// comes back as it was, and an error wraps ErrNoValue.
func (a *Appender) AppendValue(dst, raw []byte) ([]byte, error) {
	if _, ok := event.Span(raw); !ok {
		return dst, ErrNoValue
	}
	out, ok := a.value(dst, raw, 0, 0)
	if !ok {
		return dst, ErrNoValue
	}
	return out, nil
}

// AppendString appends s as a JSON string.
func AppendString(dst, s []byte) []byte { return appendString(dst, s) }

// value renders the value at b[i] and leaves the index behind it in a.last. It
// trusts nothing: values that an event.Reader didn't check fail here. A failed
// call leaves dst's old content and the Appender usable.
func (a *Appender) value(dst, b []byte, i, depth int) (_ []byte, ok bool) {
	if i >= len(b) {
		return dst, false
	}
	c := b[i]
	i++
	switch {
	case c < 0x80:
		a.last = i
		return appendSmall(dst, c), true
	case c < 0x90:
		return a.nested(dst, b, i-1, i, int(c&0x0f), depth)
	case c < 0xa0:
		return a.array(dst, b, i, int(c&0x0f), depth)
	case c < 0xc0:
		n := int(c & 0x1f)
		if n > len(b)-i {
			return dst, false
		}
		a.last = i + n
		if n >= len(event.BinMark) && b[i] == event.BinMark[0] {
			return appendText(dst, b[i:i+n]), true
		}
		return appendString(dst, b[i:i+n]), true
	case c >= 0xe0:
		a.last = i
		return strconv.AppendInt(dst, int64(int8(c)), 10), true
	case c >= 0xd9:
		return a.sized(dst, b, i, c, depth)
	case c >= 0xca && c <= 0xd3:
		return a.number(dst, b, i, c)
	}
	a.last = i
	switch c {
	case 0xc0:
		return append(dst, "null"...), true
	case 0xc2:
		return append(dst, "false"...), true
	case 0xc3:
		return append(dst, "true"...), true
	}
	return a.binary(dst, b, i-1)
}

// sized renders a string, array or map with a length field, which begins at
// b[i], of the lead byte c.
func (a *Appender) sized(dst, b []byte, i int, c byte, depth int) ([]byte, bool) {
	var n int
	lead := i - 1
	switch rest := b[i:]; {
	case c == 0xd9 && len(rest) >= 1:
		return a.text(dst, b, i+1, int(rest[0]))
	case c == 0xd9 || len(rest) < 2:
		return dst, false
	case c == 0xda || c == 0xdc || c == 0xde:
		n, i = int(binary.BigEndian.Uint16(rest)), i+2
	case len(rest) < 4:
		return dst, false
	default:
		n, i = int(binary.BigEndian.Uint32(rest)), i+4
	}
	switch {
	case c < 0xdc:
		return a.text(dst, b, i, n)
	case c < 0xde:
		return a.array(dst, b, i, n, depth)
	}
	return a.nested(dst, b, lead, i, n, depth)
}

// nested renders the map of n pairs whose lead byte is b[lead] and whose first
// pair begins at b[i].
func (a *Appender) nested(dst, b []byte, lead, i, n, depth int) ([]byte, bool) {
	dst, size := a.repeats.find(dst, b[lead:], depth)
	if size > 0 {
		a.last = lead + size
		return dst, true
	}
	start := len(dst)
	dst, ok := a.object(dst, b, i, n, depth)
	if ok {
		a.repeats.keep(b[lead:a.last], dst[start:], depth)
	}
	return dst, ok
}

// number renders the number whose payload begins at b[i], of the lead byte c.
func (a *Appender) number(dst, b []byte, i int, c byte) ([]byte, bool) {
	width := 1 << (c & 3) // uint and int: cc to cf, d0 to d3
	if c < 0xcc {
		width = 4 << (c & 1) // float: ca, cb
	}
	if width > len(b)-i {
		return dst, false
	}
	a.last = i + width
	switch raw := b[i : i+width]; c {
	case 0xca:
		return appendFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(raw))), 32), true
	case 0xcb:
		return appendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(raw)), 64), true
	case 0xcc:
		return strconv.AppendUint(dst, uint64(raw[0]), 10), true
	case 0xcd:
		return strconv.AppendUint(dst, uint64(binary.BigEndian.Uint16(raw)), 10), true
	case 0xce:
		return strconv.AppendUint(dst, uint64(binary.BigEndian.Uint32(raw)), 10), true
	case 0xcf:
		return strconv.AppendUint(dst, binary.BigEndian.Uint64(raw), 10), true
	case 0xd0:
		return strconv.AppendInt(dst, int64(int8(raw[0])), 10), true
	case 0xd1:
		return strconv.AppendInt(dst, int64(int16(binary.BigEndian.Uint16(raw))), 10), true
	case 0xd2:
		return strconv.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(raw))), 10), true
	default:
		return strconv.AppendInt(dst, int64(binary.BigEndian.Uint64(raw)), 10), true
	}
}

// binary renders the bin or ext value at b[i].
func (a *Appender) binary(dst, b []byte, i int) ([]byte, bool) {
	n, ok := event.Span(b[i:])
	if !ok {
		return dst, false
	}
	raw := b[i : i+n]
	a.last = i + n
	if data, ok := event.Text(raw); ok {
		if valid(data) {
			return appendText(dst, data), true
		}
		return appendBin(dst, data), true
	}
	typ, data, _ := event.Ext(raw)
	dst = append(dst, `{"type":`...)
	dst = strconv.AppendInt(dst, int64(typ), 10)
	dst = append(dst, `,"data":`...)
	return append(appendBase64(dst, data), '}'), true
}

func appendSmall(dst []byte, c byte) []byte {
	if c < 10 {
		return append(dst, '0'+c)
	}
	return strconv.AppendUint(dst, uint64(c), 10)
}

func (a *Appender) text(dst, b []byte, i, n int) ([]byte, bool) {
	if n > len(b)-i {
		return dst, false
	}
	a.last = i + n
	if n >= len(event.BinMark) && b[i] == event.BinMark[0] {
		return appendText(dst, b[i:i+n]), true
	}
	return appendString(dst, b[i:i+n]), true
}

// appendText appends the text of a value. Where it can't begin like the mark,
// appendString does, without the call.
func appendText(dst, s []byte) []byte {
	if event.HasBinMark(s) {
		return appendBin(dst, s)
	}
	return appendString(dst, s)
}

func (a *Appender) array(dst, b []byte, i, n, depth int) ([]byte, bool) {
	if depth >= event.MaxDepth {
		return dst, false
	}
	dst = append(dst, '[')
	a.last = i
	for k := range n {
		if k > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = a.value(dst, b, a.last, depth+1); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	if f != f || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return event.AppendFloat(dst, f, bits)
}

func appendBin(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = event.AppendBin(dst, b)
	return append(dst, '"')
}

func appendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}
