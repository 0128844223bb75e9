package parquet

import (
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema/walk"
)

// cells are what some records have in one column: the levels of every entry,
// and the values of those that aren't null. Of texts and numbers only one is
// used. Texts alias the chunk or the walker's memory.
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
	nodes   []node // the tree's
	walker  walk.Walker
	variant variantEncoder
	cells   []cells
	rows    int
	size    int // bytes of the records in the cells

	// Of the record at hand.
	marks []mark
	rep   uint8   // repetition level of the next cell
	outer []uint8 // rep of the first item of each list and map that is begun
}

func newShredder(t *tree) *shredder {
	s := &shredder{tree: t, nodes: t.nodes, cells: make([]cells, len(t.leaves)), marks: make([]mark, len(t.leaves))}
	s.walker.Use(t.schema, t.root, s)
	if t.variant {
		s.walker.UseFreeForm(s)
	}
	return s
}

// add takes an event of the batch apart. If reason isn't empty it can't be encoded.
func (s *shredder) add(e *event.Event, b *event.Batch) (reason string) {
	if reason = s.walker.Record(e, b); reason == "" {
		s.rows++
		s.size += len(e.Raw)
	}
	return reason
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
	s.walker.Reset()
	s.variant.reset()
	s.rows, s.size = 0, 0
}

// learn returns what the batch's records had no field for, and drops every
// reference to them.
func (s *shredder) learn() []byte {
	const keep = 1 << 20
	return s.walker.Unknown(keep)
}
