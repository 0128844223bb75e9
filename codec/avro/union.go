package avro

import (
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// union encodes a value under the first branch that takes it: as its own kind,
// then without a change, then, if the schema isn't strict, converted.
func (c *encoder) union(dst []byte, t *schema.Type, raw []byte) (_ []byte, ok bool) {
	start, depth, path := len(dst), c.depth, len(c.fault.Path)
	rules, refuse := c.coercer.Rules, c.binder.Refuse
	defer func() { c.coercer.Rules, c.binder.Refuse = rules, refuse }()
	for _, own := range []bool{true, false} {
		c.coercer.Rules, c.binder.Refuse = schema.Strict, true
		if dst, ok = c.branches(dst, t, raw, own); ok {
			return dst, true
		}
	}
	if rules != schema.Strict {
		c.coercer.Rules, c.binder.Refuse = rules, refuse
		if dst, ok = c.branches(dst, t, raw, false); ok {
			return dst, true
		}
	}
	c.depth, c.fault.Path, c.fault.Reason = depth, c.fault.Path[:path], ""
	return c.misfit(dst[:start], t, raw)
}

func (c *encoder) branches(dst []byte, t *schema.Type, raw []byte, own bool) (_ []byte, ok bool) {
	start, depth, path := len(dst), c.depth, len(c.fault.Path)
	for i, b := range t.Branches {
		if own && !isOwn(b.Kind, raw) {
			continue
		}
		if dst, ok = c.value(appendLong(dst[:start], int64(i)), b, raw); ok {
			return dst, true
		}
		c.depth, c.fault.Path, c.fault.Reason = depth, c.fault.Path[:path], ""
	}
	return dst[:start], false
}

// isOwn reports whether a value of raw's kind is what the branch is for.
func isOwn(k schema.Kind, raw []byte) bool {
	if len(raw) == 0 {
		return k == schema.Null
	}
	switch event.KindOf(raw) {
	case event.KindNil:
		return k == schema.Null
	case event.KindBool:
		return k == schema.Boolean
	case event.KindInt:
		return k == schema.Int || k == schema.Long
	case event.KindFloat32, event.KindFloat64:
		return k == schema.Float || k == schema.Double
	case event.KindString:
		return k == schema.String || k == schema.Enum
	case event.KindBin:
		return k == schema.Bytes || k == schema.Fixed
	case event.KindArray:
		return k == schema.Array
	case event.KindMap:
		return k == schema.Map || k == schema.RecordKind
	}
	return false
}
