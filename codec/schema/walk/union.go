package walk

import (
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// union emits a value under the first branch that takes it: as its own kind,
// then without a change, then, if the schema isn't strict, converted.
func (w *Walker) union(t *schema.Type, raw []byte) bool {
	rules, refuse := w.convert.Rules, w.binder.refuse
	defer func() { w.convert.Rules, w.binder.refuse = rules, refuse }()
	for _, own := range []bool{true, false} {
		w.convert.Rules, w.binder.refuse = schema.Strict, true
		if w.branches(t, raw, own) {
			return true
		}
	}
	if rules != schema.Strict {
		w.convert.Rules, w.binder.refuse = rules, refuse
		if w.branches(t, raw, false) {
			return true
		}
	}
	return w.misfit(t, raw)
}

// branches tries one branch after the other, or only those that are for values
// of raw's own kind.
func (w *Walker) branches(t *schema.Type, raw []byte, own bool) bool {
	mark, depth, path := w.emit.Mark(), w.depth, len(w.fault.path)
	for i, b := range t.Branches {
		if own && !isOwn(b.Kind, raw) {
			continue
		}
		w.emit.Branch(t, i)
		if w.value(b, raw) {
			return true
		}
		w.emit.Rewind(mark)
		w.depth, w.fault.path, w.fault.reason = depth, w.fault.path[:path], ""
	}
	return false
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
