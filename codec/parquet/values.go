package parquet

import (
	"math"
	"strconv"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// value takes a value apart that is no null. If it doesn't fit, no cell was
// added in a learned schema; in a given one the record is undone. The reason is
// noted unless the schema is learned: that is asked too often.
func (s *shredder) value(n *node, raw []byte, rep uint8) bool {
	if raw[0] == 0xc0 {
		if n.optional {
			s.null(n, rep)
			return true
		}
		return s.misfit(n.typ, raw)
	}
	switch t := n.typ; t.Kind {
	case schema.String:
		if n.variant {
			return s.asVariant(n, raw, rep)
		}
		if b, ok := s.coercer.Text(t, raw); ok {
			s.text(n.from, n.def, rep, b)
			return true
		}
	case schema.Int, schema.Long:
		if v, ok := s.coercer.Long(t, raw); ok {
			s.number(n.from, n.def, rep, uint64(v))
			return true
		}
	case schema.Double, schema.Float:
		if v, ok := s.coercer.Double(t, raw); ok {
			bits := math.Float64bits(v)
			if t.Kind == schema.Float {
				bits = uint64(math.Float32bits(float32(v)))
			}
			s.number(n.from, n.def, rep, bits)
			return true
		}
	case schema.Boolean:
		if v, ok := s.coercer.Bool(raw); ok {
			bit := uint64(0)
			if v {
				bit = 1
			}
			s.number(n.from, n.def, rep, bit)
			return true
		}
	case schema.RecordKind, schema.Array, schema.Map:
		return s.nested(n, raw, rep)
	default:
		return s.rare(n, raw, rep)
	}
	return s.misfit(n.typ, raw)
}

// rare takes apart what most records don't have.
func (s *shredder) rare(n *node, raw []byte, rep uint8) bool {
	var b []byte
	var ok bool
	switch t := n.typ; {
	case t.Logical == schema.Decimal:
		b, ok = s.coercer.Decimal(t, raw)
	case t.Kind == schema.Bytes:
		b, ok = s.coercer.Bytes(raw)
	case t.Kind == schema.Fixed:
		b, ok = s.coercer.Fixed(t, raw)
	case t.Kind == schema.Enum:
		var i int
		if i, ok = s.coercer.Symbol(t, raw); ok {
			b, _ = event.Text(raw)
			b = b[:len(t.Symbols[i])]
		}
	}
	if !ok {
		return s.misfit(n.typ, raw)
	}
	s.text(n.from, n.def, rep, b)
	return true
}

func (s *shredder) misfit(t *schema.Type, raw []byte) bool {
	if !s.learned && s.fault.Reason == "" {
		s.fault.Reason = schema.Reason(t, raw)
	}
	return false
}

func (s *shredder) levels(c *cells, l *leaf, def, rep uint8) {
	if l.maxDef > 0 {
		c.defs = append(c.defs, def)
	}
	if l.maxRep > 0 {
		c.reps = append(c.reps, rep)
	}
}

func (s *shredder) text(i int, def, rep uint8, b []byte) {
	c := &s.cells[i]
	s.levels(c, &s.tree.leaves[i], def, rep)
	c.texts = append(c.texts, b)
}

func (s *shredder) number(i int, def, rep uint8, v uint64) {
	c := &s.cells[i]
	s.levels(c, &s.tree.leaves[i], def, rep)
	c.numbers = append(c.numbers, v)
}

// nested takes apart what has parts.
func (s *shredder) nested(n *node, raw []byte, rep uint8) bool {
	if !schema.Fits(n.typ, raw) {
		return s.misfit(n.typ, raw)
	}
	switch n.typ.Kind {
	case schema.Array:
		return s.list(n, raw, rep)
	case schema.Map:
		return s.pairs(n, raw, rep)
	}
	base, unknown, ok := s.binder.Bind(n.typ.Record, raw)
	if !ok {
		if unknown != nil {
			s.fault.Unknown(unknown)
		}
		return false
	}
	for i, kid := range n.kids {
		if ok = s.field(kid, s.binder.Value(base, i), rep); !ok {
			break
		}
	}
	s.binder.Release(base)
	return ok
}

func (s *shredder) list(n *node, raw []byte, rep uint8) bool {
	e := event.ElementsOf(raw)
	if e.Left() == 0 {
		s.absent(n, n.def, rep)
		return true
	}
	item := n.kids[0]
	for i := 0; e.Next(); i++ {
		if !s.value(item, e.Value, rep) {
			if !s.learned {
				s.fault.Path = append(s.fault.Path, "["+strconv.Itoa(i)+"]")
				return false
			}
			s.binder.Missed = true
			s.null(item, rep)
		}
		rep = n.rep
	}
	return true
}

func (s *shredder) pairs(n *node, raw []byte, rep uint8) bool {
	pairs, base := s.coercer.Pairs(raw)
	defer s.coercer.ReleasePairs(base)
	if len(pairs) == 0 {
		s.absent(n, n.def, rep)
		return true
	}
	key, value := n.kids[0], n.kids[1]
	for _, p := range pairs {
		s.text(key.from, key.def, rep, p.Key)
		if !s.value(value, p.Value, rep) {
			s.fault.Path = append(s.fault.Path, "["+strconv.Quote(string(p.Key))+"]")
			return false
		}
		rep = n.rep
	}
	return true
}
