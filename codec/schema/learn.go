package schema

import (
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// The bounds of what is learned. Whatever lies beyond is JSON text: in _extra,
// or in a column of its own.
const (
	// maxColumns is how many fields a learned schema has. Each costs memory in
	// every open part, and readers slow down long before.
	maxColumns = 2048
	// maxMembers is how many different keys a map below the top may have as
	// columns. One with more has data for keys, such as labels or headers.
	maxMembers = 128
	// maxDepth is how deep columns lie in one another.
	maxDepth = 8
	// maxKey is the longest key that becomes a column, in bytes.
	maxKey = 255
)

// learned is a type as records have shown it so far. It only widens:
//
//	nothing → any type
//	long → double
//	bytes stay bytes for a bin that is text
//	any two others → string (a map's or array's text is its JSON)
//	map of too many keys or too deep, array too deep → free-form
type learned struct {
	kind    Kind // Null is nothing yet
	logical Logical
	items   *learned // of an Array
	members []*member
	index   map[string]int // of members, by key
	// names and columns are those of the members, taken for good.
	names, columns names
}

// member is a field of a learned record.
type member struct {
	key, name, column string
	of                *learned
}

// learner widens a learned record.
type learner struct {
	root    *learned
	members int  // in all records together
	changed bool // since the last schema was made of it
	keys    json.Appender
	key     []byte
}

func newLearner(reserved ...string) *learner {
	l := &learner{root: newRecord()}
	for _, key := range reserved {
		l.root.names.take(avroName(key))
		l.root.columns.take(columnName(key))
	}
	return l
}

func newRecord() *learned {
	return &learned{kind: RecordKind, index: map[string]int{}, names: names{}, columns: names{}}
}

// record learns from a record's map.
func (l *learner) record(raw []byte) { l.fields(l.root, raw, 1) }

func (l *learner) fields(r *learned, raw []byte, depth int) {
	for f := event.FieldsOf(raw); f.Next(); {
		if event.KindOf(f.Value) == event.KindNil {
			continue
		}
		l.key = AppendKey(l.key[:0], f.Key, &l.keys)
		i, known := r.index[string(l.key)]
		if !known {
			if i = l.add(r, string(l.key)); i < 0 {
				if r.kind != RecordKind {
					return
				}
				continue
			}
		}
		l.value(r.members[i].of, f.Value, depth)
	}
}

// add gives the record r a member, and returns -1 if it can have no more.
func (l *learner) add(r *learned, key string) int {
	switch {
	case r != l.root && len(r.members) >= maxMembers:
		l.become(r, String, FreeForm)
		return -1
	case len(key) > maxKey || l.members >= maxColumns:
		return -1
	}
	l.members++
	return r.add(&member{key: key, name: avroName(key), column: columnName(key), of: &learned{}})
}

// add takes a member, under names that are free.
func (r *learned) add(m *member) int {
	m.name, m.column = r.names.unique(m.name), r.columns.unique(m.column)
	r.index[m.key] = len(r.members)
	r.members = append(r.members, m)
	return len(r.members) - 1
}

// value widens n to hold the value too.
func (l *learner) value(n *learned, raw []byte, depth int) {
	kind := kindOf(raw)
	switch {
	case kind == Null || n.kind == String || n.kind == kind:
	case n.kind == Bytes && event.KindOf(raw) == event.KindBin: // text by chance
	case n.kind == Null && depth >= maxDepth && (kind == Array || kind == RecordKind):
		l.become(n, String, FreeForm)
	case n.kind == Null:
		l.become(n, kind, None)
	case n.kind == Double && kind == Long:
	case n.kind == Long && kind == Double:
		l.become(n, Double, None)
	default:
		l.become(n, String, None)
	}
	switch n.kind {
	case Array:
		for e := event.ElementsOf(raw); e.Next(); {
			l.value(n.items, e.Value, depth+1)
		}
	case RecordKind:
		l.fields(n, raw, depth+1)
	}
}

// kindOf is the column that one value alone would have.
func kindOf(raw []byte) Kind {
	switch event.KindOf(raw) {
	case event.KindBool:
		return Boolean
	case event.KindInt:
		return Long
	case event.KindFloat32, event.KindFloat64:
		return Double
	case event.KindBin:
		if _, isText := event.String(raw); isText {
			return String
		}
		return Bytes
	case event.KindArray:
		return Array
	case event.KindMap:
		return RecordKind
	case event.KindNil, event.KindInvalid:
		return Null
	}
	return String // KindUint too: no number of a table holds it exactly
}

// become changes n's type for good.
func (l *learner) become(n *learned, kind Kind, logical Logical) {
	l.members -= n.count()
	*n = learned{kind: kind, logical: logical}
	switch kind {
	case Array:
		n.items = &learned{}
	case RecordKind:
		*n = *newRecord()
	}
	l.changed = true
}

// count is how many members n has at any depth.
func (n *learned) count() int {
	total := len(n.members)
	for _, m := range n.members {
		total += m.of.count()
	}
	if n.items != nil {
		total += n.items.count()
	}
	return total
}

// typ is n as a type, nil while nothing can be put in it: there is no column
// for nulls alone, and no group or list without a column.
func (n *learned) typ(namespace, name string) *Type {
	switch n.kind {
	case Null:
		return nil
	case Array:
		items := n.items.typ(namespace, name)
		if items == nil {
			return nil
		}
		return &Type{Kind: Array, Items: items, Nullable: true}
	case RecordKind:
		// A record may not be called like a primitive type, nor, for some
		// parsers, like a complex one. One suffix for all keeps them apart.
		r := &Record{Name: namespace + "." + name + "_record", Fields: n.fields(namespace + "." + name)}
		if len(r.Fields) == 0 {
			return nil
		}
		r.finish()
		return &Type{Kind: RecordKind, Record: r, Nullable: true}
	}
	return &Type{Kind: n.kind, Logical: n.logical, Nullable: true}
}

// fields are the members that have a type.
func (n *learned) fields(namespace string) []*Field {
	var fields []*Field
	for _, m := range n.members {
		if t := m.of.typ(namespace, m.name); t != nil {
			fields = append(fields, &Field{Name: m.name, Column: m.column, Key: m.key, Bound: true, Type: t, Default: nilValue()})
		}
	}
	return fields
}

func nilValue() []byte { return []byte{0xc0} }

// load takes a learned schema's fields in. Names that others have are changed.
func (l *learner) load(r *learned, fields []*Field) {
	for _, f := range fields {
		if !f.Bound || f.From != FromRecord || l.members >= maxColumns {
			continue
		}
		of := l.loadType(f.Type)
		if of == nil {
			continue
		}
		if _, known := r.index[f.Key]; known {
			continue
		}
		l.members++
		r.add(&member{key: f.Key, name: f.Name, column: f.Column, of: of})
		l.changed = true
	}
}

// loadType is nil for a type that is never learned.
func (l *learner) loadType(t *Type) *learned {
	switch t.Kind {
	case Boolean, Long, Double, Bytes, String:
		if t.Logical == None || t.Logical == FreeForm {
			return &learned{kind: t.Kind, logical: t.Logical}
		}
	case Array:
		if items := l.loadType(t.Items); items != nil {
			return &learned{kind: Array, items: items}
		}
	case RecordKind:
		r := newRecord()
		l.load(r, t.Record.Fields)
		return r
	}
	return nil
}
