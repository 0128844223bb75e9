package parquet

import (
	"math"

	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/walk"
)

var (
	_ walk.Emitter  = (*shredder)(nil)
	_ walk.FreeForm = (*shredder)(nil)
)

// Mark implements walk.Emitter. There are no unions, so only a record is marked
// and taken back.
func (s *shredder) Mark() int {
	for i := range s.cells {
		c := &s.cells[i]
		s.marks[i] = mark{len(c.defs), len(c.numbers) + len(c.texts)}
	}
	s.rep, s.outer = 0, s.outer[:0]
	return 0
}

// Rewind implements walk.Emitter: it removes the cells of the record at hand.
func (s *shredder) Rewind(int) {
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

// Null implements walk.Emitter: every column in t has an entry that says how far
// it is there, which is up to t's parent.
func (s *shredder) Null(t *schema.Type) {
	n := &s.nodes[t.Place]
	s.absent(n, n.def-1)
}

func (s *shredder) absent(n *node, def uint8) {
	for i := n.from; i < n.to; i++ {
		c, l := &s.cells[i], &s.tree.leaves[i]
		c.defs = append(c.defs, def)
		if l.maxRep > 0 {
			c.reps = append(c.reps, s.rep)
		}
	}
}

// Bool implements walk.Emitter.
func (s *shredder) Bool(t *schema.Type, v bool) {
	bit := uint64(0)
	if v {
		bit = 1
	}
	s.number(t, bit)
}

// Long implements walk.Emitter.
func (s *shredder) Long(t *schema.Type, v int64) { s.number(t, uint64(v)) }

// Double implements walk.Emitter.
func (s *shredder) Double(t *schema.Type, v float64) {
	if t.Kind == schema.Float {
		s.number(t, uint64(math.Float32bits(float32(v))))
	} else {
		s.number(t, math.Float64bits(v))
	}
}

// Bytes implements walk.Emitter.
func (s *shredder) Bytes(t *schema.Type, b []byte) {
	n := &s.nodes[t.Place]
	s.text(n, n.from, n.def, b)
}

// Symbol implements walk.Emitter.
func (s *shredder) Symbol(t *schema.Type, _ int, symbol []byte) { s.Bytes(t, symbol) }

// Record implements walk.Emitter: a group is where its columns are.
func (*shredder) Record(*schema.Type) {}

// Begin implements walk.Emitter.
func (s *shredder) Begin(t *schema.Type, items int) {
	s.outer = append(s.outer, s.rep)
	if items == 0 {
		n := &s.nodes[t.Place]
		s.absent(n, n.def)
	}
}

// Next implements walk.Emitter.
func (s *shredder) Next(t *schema.Type) { s.rep = s.nodes[t.Place].rep }

// Key implements walk.Emitter.
func (s *shredder) Key(t *schema.Type, key []byte) {
	n := &s.nodes[t.Place]
	s.text(n, n.from, n.def+1, key)
}

// End implements walk.Emitter.
func (s *shredder) End(*schema.Type) {
	last := len(s.outer) - 1
	s.rep, s.outer = s.outer[last], s.outer[:last]
}

// Branch implements walk.Emitter. A schema with unions is refused.
func (*shredder) Branch(*schema.Type, int) {}

// Rest implements walk.Emitter: columns don't lie behind one another.
func (*shredder) Rest(*schema.Type) {}

// PutRest implements walk.Emitter.
func (s *shredder) PutRest(t *schema.Type, json []byte) {
	if json == nil {
		s.Null(t)
	} else {
		s.Bytes(t, json)
	}
}

// text adds a value to the i-th column, which lies in n. The definition level of
// a column's values is also its highest.
func (s *shredder) text(n *node, i int, def uint8, b []byte) {
	c := &s.cells[i]
	if def > 0 {
		c.defs = append(c.defs, def)
	}
	if n.rep > 0 {
		c.reps = append(c.reps, s.rep)
	}
	c.texts = append(c.texts, b)
}

func (s *shredder) number(t *schema.Type, v uint64) {
	n := &s.nodes[t.Place]
	c := &s.cells[n.from]
	if n.def > 0 {
		c.defs = append(c.defs, n.def)
	}
	if n.rep > 0 {
		c.reps = append(c.reps, s.rep)
	}
	c.numbers = append(c.numbers, v)
}
