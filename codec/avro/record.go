package avro

import (
	"github.com/tinylib/msgp/msgp"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// encoder appends events as records of one schema at a time. The zero value is
// ready after use. One goroutine uses it at a time.
type encoder struct {
	schema  *schema.Schema
	learned bool
	binder  schema.Binder
	coercer schema.Coercer

	tag   string // whose msgpack tagRaw is
	tagOf []byte
	time  []byte
	rest  []byte // what the batch's records had no field for, for Learn
	tmp   []byte
	depth int
	fault schema.Fault // of the record at hand
}

// use makes s the schema of the records that follow.
func (c *encoder) use(s *schema.Schema) {
	if c.schema == s {
		return
	}
	c.schema, c.learned = s, s.Rules == schema.Learned
	c.coercer.Rules = s.Rules
	c.binder.Keep, c.binder.Refuse = s.Rest >= 0, s.Rules == schema.Strict
}

// record appends the event. If reason isn't empty it can't be encoded, and dst
// comes back as it was.
func (c *encoder) record(dst []byte, e *event.Event, tag string) (_ []byte, reason string) {
	if e.Malformed != "" {
		return dst, e.Malformed
	}
	c.binder.Reset()
	c.coercer.Reset()
	c.fault.Reset()
	c.depth = 0
	start := len(dst)
	root := c.schema.Root
	base, unknown, ok := c.binder.Bind(root, e.Body)
	if ok {
		c.beside(base, e, tag)
		dst, ok = c.root(dst, root, base)
		c.binder.Release(base)
	} else if unknown != nil {
		c.fault.Unknown(unknown)
	}
	if !ok {
		return dst[:start], c.fault.String()
	}
	return dst, ""
}

// beside gives the fields their values that aren't in the record.
func (c *encoder) beside(base int, e *event.Event, tag string) {
	for i, f := range c.schema.Root.Fields {
		if f.From == schema.FromRecord || f.From == schema.FromRest || c.binder.Value(base, i) != nil {
			continue
		}
		switch f.From {
		case schema.FromTime:
			c.time = schema.AppendTime(c.time[:0], e.Time)
			c.binder.Put(base, i, c.time)
		case schema.FromTag:
			if c.tagOf == nil || c.tag != tag {
				c.tag, c.tagOf = tag, msgp.AppendString(c.tagOf[:0], tag)
			}
			c.binder.Put(base, i, c.tagOf)
		case schema.FromMetadata:
			c.putMap(base, i, e.Meta)
		case schema.FromGroup:
			if e.Group != nil {
				c.putMap(base, i, e.Group.Body)
			}
		}
	}
}

// putMap leaves an empty map out, as in JSON.
func (c *encoder) putMap(base, i int, raw []byte) {
	if f := event.FieldsOf(raw); f.Left() > 0 {
		c.binder.Put(base, i, raw)
	}
}

// root encodes the top of a record. What is left over is known when all else is
// encoded, and goes in at its field's place.
func (c *encoder) root(dst []byte, r *schema.Record, base int) (_ []byte, ok bool) {
	restAt := 0
	for i, f := range r.Fields {
		if i == c.schema.Rest {
			restAt = len(dst)
			continue
		}
		if dst, ok = c.field(dst, f, c.binder.Value(base, i)); !ok {
			return dst, false
		}
	}
	if c.schema.Rest < 0 {
		return dst, true
	}
	t := r.Fields[c.schema.Rest].Type
	rest := c.binder.Extra.Map()
	if rest == nil && t.Nullable && restAt == len(dst) {
		return appendNull(dst, t), true
	}
	if c.tmp, ok = c.appendRest(c.tmp[:0], t, rest); !ok {
		return dst, false
	}
	tail := len(dst)
	dst = append(dst, c.tmp...)
	if restAt < tail {
		copy(dst[restAt+len(c.tmp):], dst[restAt:tail])
		copy(dst[restAt:], c.tmp)
	}
	return dst, true
}

func (c *encoder) appendRest(dst []byte, t *schema.Type, rest []byte) ([]byte, bool) {
	if rest == nil {
		if t.Nullable {
			return appendNull(dst, t), true
		}
		return appendText(dst, []byte("{}")), true
	}
	if c.learned {
		c.rest = append(c.rest, rest...)
	}
	text, ok := c.coercer.JSON(rest)
	return appendText(appendBranch(dst, t), text), ok
}

// field encodes one field; raw is nil if the record has none. In a learned
// schema what doesn't fit is null and goes to the rest.
func (c *encoder) field(dst []byte, f *schema.Field, raw []byte) (_ []byte, ok bool) {
	t := f.Type
	if raw == nil || raw[0] == 0xc0 && !t.Nullable && f.Default != nil && c.coercer.Rules == schema.Lenient {
		raw = f.Default
	}
	if (raw == nil || raw[0] == 0xc0) && t.Nullable {
		return appendNull(dst, t), true
	}
	start := len(dst)
	switch {
	case raw == nil && t.Kind != schema.Null && t.Kind != schema.Union:
		c.fault.Reason = "it is missing and has no default"
	case c.binder.Inside > 0:
		dst, ok = c.value(dst, t, raw)
	case t.Kind == schema.RecordKind:
		c.binder.Extra.Enter(f.RawKey())
		dst, ok = c.value(dst, t, raw)
		c.binder.Extra.Leave()
	case t.Kind == schema.Array || t.Kind == schema.Map || t.Kind == schema.Union:
		c.binder.Inside++
		dst, ok = c.value(dst, t, raw)
		c.binder.Inside--
		if ok && c.binder.Missed {
			c.binder.Extra.Add(f.RawKey(), raw)
		}
		c.binder.Missed = false
	default:
		dst, ok = c.value(dst, t, raw)
	}
	switch {
	case ok:
		return dst, true
	case !c.learned:
		c.fault.Path = append(c.fault.Path, f.Name)
		return dst, false
	case c.binder.Inside > 0:
		c.binder.Missed = true
	default:
		c.binder.Extra.Add(f.RawKey(), raw)
	}
	return appendNull(dst[:start], t), true
}
