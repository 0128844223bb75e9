package parquet

import (
	"github.com/tinylib/msgp/msgp"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// cells are what some records have in one column: the levels of every entry,
// and the values of those that aren't null. Of texts and numbers only one is
// used. Texts alias the chunk or the coercer's memory.
type cells struct {
	defs, reps []uint8
	numbers    []uint64
	texts      [][]byte
}

// mark is where a record's cells begin.
type mark struct{ levels, values int }

// shredder takes records apart into the columns' cells. A record that doesn't
// fit leaves none, so no row ever lacks a column or has two: what is handed to
// the columns is whole rows of checked values. One goroutine uses it at a time.
type shredder struct {
	tree    *tree
	learned bool
	binder  schema.Binder
	coercer schema.Coercer
	variant variantEncoder
	cells   []cells
	marks   []mark
	rows    int
	size    int // bytes of the records in the cells

	tag   string // whose msgpack tagOf is
	tagOf []byte
	times []byte       // the records' times, as msgpack
	rest  []byte       // what the batch's records had no field for, for Learn
	fault schema.Fault // of the record at hand
}

func newShredder(t *tree) *shredder {
	s := &shredder{
		tree: t, learned: t.schema.Rules == schema.Learned,
		cells: make([]cells, len(t.leaves)), marks: make([]mark, len(t.leaves)),
	}
	s.coercer.Rules = t.schema.Rules
	s.binder.Keep, s.binder.Refuse = t.schema.Rest >= 0, t.schema.Rules == schema.Strict
	return s
}

// add takes an event apart. If reason isn't empty it can't be encoded.
func (s *shredder) add(e *event.Event, tag string) (reason string) {
	if e.Malformed != "" {
		return e.Malformed
	}
	s.binder.Reset()
	s.fault.Reset()
	base, unknown, ok := s.binder.Bind(s.tree.schema.Root, e.Body)
	if !ok {
		if unknown != nil {
			s.fault.Unknown(unknown)
		}
		return s.fault.String()
	}
	for i := range s.cells {
		c := &s.cells[i]
		s.marks[i] = mark{len(c.defs), len(c.numbers) + len(c.texts)}
	}
	s.beside(base, e, tag)
	ok = s.root(base)
	s.binder.Release(base)
	if !ok {
		s.undo()
		return s.fault.String()
	}
	s.rows++
	s.size += len(e.Raw)
	return ""
}

// undo removes the cells of the record at hand.
func (s *shredder) undo() {
	for i := range s.cells {
		c, m := &s.cells[i], s.marks[i]
		if c.defs != nil {
			c.defs = c.defs[:m.levels]
		}
		if c.reps != nil {
			c.reps = c.reps[:m.levels]
		}
		if s.tree.leaves[i].isText() {
			c.texts = c.texts[:m.values]
		} else {
			c.numbers = c.numbers[:m.values]
		}
	}
}

func (l *leaf) isText() bool { return l.physical == physicalByteArray || l.physical == physicalFixed }

// keepCells is how many cells of a column are kept for the next rows.
const keepCells = 4096

// reset drops the cells, and all that they refer to.
func (s *shredder) reset() {
	for i := range s.cells {
		c := &s.cells[i]
		clear(c.texts)
		if len(c.defs) > keepCells || len(c.texts)+len(c.numbers) > keepCells {
			*c = cells{}
			continue
		}
		c.defs, c.reps, c.numbers, c.texts = c.defs[:0], c.reps[:0], c.numbers[:0], c.texts[:0]
	}
	s.coercer.Reset()
	s.variant.reset()
	s.times = s.times[:0]
	s.rows, s.size = 0, 0
}

// beside gives the fields their values that aren't in the record.
func (s *shredder) beside(base int, e *event.Event, tag string) {
	for i, f := range s.tree.schema.Root.Fields {
		if f.From == schema.FromRecord || f.From == schema.FromRest || s.binder.Value(base, i) != nil {
			continue
		}
		switch f.From {
		case schema.FromTime:
			from := len(s.times)
			s.times = schema.AppendTime(s.times, e.Time)
			s.binder.Put(base, i, s.times[from:len(s.times):len(s.times)])
		case schema.FromTag:
			if s.tagOf == nil || s.tag != tag {
				s.tag, s.tagOf = tag, msgp.AppendString(nil, tag)
			}
			s.binder.Put(base, i, s.tagOf)
		case schema.FromMetadata:
			s.putMap(base, i, e.Meta)
		case schema.FromGroup:
			if e.Group != nil {
				s.putMap(base, i, e.Group.Body)
			}
		}
	}
}

// putMap leaves an empty map out, as in JSON.
func (s *shredder) putMap(base, i int, raw []byte) {
	if f := event.FieldsOf(raw); f.Left() > 0 {
		s.binder.Put(base, i, raw)
	}
}

// root takes the top of a record apart. What is left over is known when all
// else is.
func (s *shredder) root(base int) bool {
	for i, n := range s.tree.root {
		if i != s.tree.schema.Rest && !s.field(n, s.binder.Value(base, i), 0) {
			return false
		}
	}
	if s.tree.schema.Rest < 0 {
		return true
	}
	n := s.tree.root[s.tree.schema.Rest]
	rest := s.binder.Extra.Map()
	if rest == nil {
		if n.optional {
			s.null(n, 0)
		} else {
			s.text(n.from, n.def, 0, []byte("{}"))
		}
		return true
	}
	if s.learned {
		s.rest = append(s.rest, rest...)
	}
	text, ok := s.coercer.JSON(rest)
	if ok {
		s.text(n.from, n.def, 0, text)
	}
	return ok
}

// field takes one field apart; raw is nil if the record has none. In a learned
// schema what doesn't fit is null and goes to the rest.
func (s *shredder) field(n *node, raw []byte, rep uint8) (ok bool) {
	f := n.field
	if raw == nil || raw[0] == 0xc0 && !n.optional && f.Default != nil && s.coercer.Rules == schema.Lenient {
		raw = f.Default
	}
	if (raw == nil || raw[0] == 0xc0) && n.optional {
		s.null(n, rep)
		return true
	}
	switch {
	case raw == nil:
		s.fault.Reason = "it is missing and has no default"
	case s.binder.Inside > 0:
		ok = s.value(n, raw, rep)
	case n.typ.Kind == schema.RecordKind:
		s.binder.Extra.Enter(f.RawKey())
		ok = s.value(n, raw, rep)
		s.binder.Extra.Leave()
	case n.typ.Kind == schema.Array || n.typ.Kind == schema.Map:
		s.binder.Inside++
		ok = s.value(n, raw, rep)
		s.binder.Inside--
		if ok && s.binder.Missed {
			s.binder.Extra.Add(f.RawKey(), raw)
		}
		s.binder.Missed = false
	default:
		ok = s.value(n, raw, rep)
	}
	switch {
	case ok:
		return true
	case !s.learned:
		s.fault.Path = append(s.fault.Path, f.Name)
		return false
	case s.binder.Inside > 0:
		s.binder.Missed = true
	default:
		s.binder.Extra.Add(f.RawKey(), raw)
	}
	s.null(n, rep)
	return true
}

// null gives every column in n an entry that says how far it is there: up to
// n's parent.
func (s *shredder) null(n *node, rep uint8) { s.absent(n, n.def-1, rep) }

func (s *shredder) absent(n *node, def, rep uint8) {
	for i := n.from; i < n.to; i++ {
		c, l := &s.cells[i], &s.tree.leaves[i]
		c.defs = append(c.defs, def)
		if l.maxRep > 0 {
			c.reps = append(c.reps, rep)
		}
	}
}
