package avro

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// appendLong writes a zig-zag varint (Avro 1.11, "Binary encoding").
func appendLong(dst []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	if u < 0x80 {
		return append(dst, byte(u))
	}
	return binary.AppendUvarint(dst, u)
}

func appendText(dst, s []byte) []byte { return append(appendLong(dst, int64(len(s))), s...) }

// appendNull is the null of a nullable type.
func appendNull(dst []byte, t *schema.Type) []byte {
	if t.NullSecond {
		return append(dst, 2)
	}
	return append(dst, 0)
}

// appendBranch says that a value follows that isn't null, if that is open.
func appendBranch(dst []byte, t *schema.Type) []byte {
	switch {
	case !t.Nullable:
		return dst
	case t.NullSecond:
		return append(dst, 0)
	}
	return append(dst, 2)
}

// value encodes a value. If it doesn't fit, dst's old content is as it was and
// the reason is noted, unless the schema is learned: that is asked too often.
func (c *encoder) value(dst []byte, t *schema.Type, raw []byte) (_ []byte, ok bool) {
	if len(raw) == 0 || raw[0] == 0xc0 {
		switch {
		case t.Nullable:
			return appendNull(dst, t), true
		case t.Kind == schema.Null:
			return dst, true
		case t.Kind != schema.Union:
			return c.misfit(dst, t, raw)
		}
	}
	start := len(dst)
	dst = appendBranch(dst, t)
	switch t.Kind {
	case schema.String:
		var s []byte
		if s, ok = c.coercer.Text(t, raw); ok {
			return appendText(dst, s), true
		}
	case schema.Int, schema.Long:
		var v int64
		if v, ok = c.coercer.Long(t, raw); ok {
			return appendLong(dst, v), true
		}
	case schema.Double, schema.Float:
		var v float64
		if v, ok = c.coercer.Double(t, raw); ok {
			return appendFloat(dst, t, v), true
		}
	case schema.Boolean:
		var v bool
		if v, ok = c.coercer.Bool(raw); ok {
			if v {
				return append(dst, 1), true
			}
			return append(dst, 0), true
		}
	default:
		return c.rare(dst, start, t, raw)
	}
	return c.misfit(dst[:start], t, raw)
}

// rare encodes what most records don't have.
func (c *encoder) rare(dst []byte, start int, t *schema.Type, raw []byte) (_ []byte, ok bool) {
	var b []byte
	switch {
	case t.Logical == schema.Decimal:
		if b, ok = c.coercer.Decimal(t, raw); ok && t.Kind == schema.Fixed {
			return append(dst, b...), true
		}
	case t.Kind == schema.Bytes:
		b, ok = c.coercer.Bytes(raw)
	case t.Kind == schema.Fixed:
		if b, ok = c.coercer.Fixed(t, raw); ok {
			return append(dst, b...), true
		}
	case t.Kind == schema.Enum:
		var i int
		if i, ok = c.coercer.Symbol(t, raw); ok {
			return appendLong(dst, int64(i)), true
		}
	case t.Kind == schema.Union:
		return c.union(dst, t, raw)
	case t.Kind != schema.Null:
		return c.nested(dst, start, t, raw)
	}
	if !ok {
		return c.misfit(dst[:start], t, raw)
	}
	return appendText(dst, b), true
}

func appendFloat(dst []byte, t *schema.Type, v float64) []byte {
	if t.Kind == schema.Float {
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v)))
	}
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}

func (c *encoder) misfit(dst []byte, t *schema.Type, raw []byte) ([]byte, bool) {
	if !c.learned && c.fault.Reason == "" {
		c.fault.Reason = schema.Reason(t, raw)
	}
	return dst, false
}

// nested encodes what has parts.
func (c *encoder) nested(dst []byte, start int, t *schema.Type, raw []byte) (_ []byte, ok bool) {
	if !schema.Fits(t, raw) {
		return c.misfit(dst[:start], t, raw)
	}
	if c.depth >= event.MaxDepth {
		return dst[:start], false
	}
	c.depth++
	switch t.Kind {
	case schema.Array:
		dst, ok = c.array(dst, t, raw)
	case schema.Map:
		dst, ok = c.mapOf(dst, t, raw)
	default:
		dst, ok = c.fields(dst, t.Record, raw)
	}
	c.depth--
	if !ok {
		return dst[:start], false
	}
	return dst, true
}

func (c *encoder) fields(dst []byte, r *schema.Record, raw []byte) (_ []byte, ok bool) {
	base, unknown, ok := c.binder.Bind(r, raw)
	if !ok {
		if unknown != nil {
			c.fault.Unknown(unknown)
		}
		return dst, false
	}
	for i, f := range r.Fields {
		if dst, ok = c.field(dst, f, c.binder.Value(base, i)); !ok {
			break
		}
	}
	c.binder.Release(base)
	return dst, ok
}

// array writes one block of items and the empty one that ends it.
func (c *encoder) array(dst []byte, t *schema.Type, raw []byte) (_ []byte, ok bool) {
	list := event.ElementsOf(raw)
	n := list.Left()
	if n == 0 {
		return append(dst, 0), true
	}
	dst = appendLong(dst, int64(n))
	for i := 0; list.Next(); i++ {
		if dst, ok = c.value(dst, t.Items, list.Value); ok {
			n--
			continue
		}
		if !c.learned {
			c.fault.Path = append(c.fault.Path, "["+strconv.Itoa(i)+"]")
			return dst, false
		}
		n--
		c.binder.Missed = true
		dst = appendNull(dst, t.Items)
	}
	return append(dst, 0), n == 0
}

func (c *encoder) mapOf(dst []byte, t *schema.Type, raw []byte) (_ []byte, ok bool) {
	pairs, base := c.coercer.Pairs(raw)
	ok = true
	if len(pairs) > 0 {
		dst = appendLong(dst, int64(len(pairs)))
	}
	for _, p := range pairs {
		dst = appendText(dst, p.Key)
		if dst, ok = c.value(dst, t.Items, p.Value); !ok {
			c.fault.Path = append(c.fault.Path, "["+strconv.Quote(string(p.Key))+"]")
			break
		}
	}
	c.coercer.ReleasePairs(base)
	return append(dst, 0), ok
}
