package parquet

import (
	"errors"
	"fmt"
	"sync"

	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// ErrSchema is wrapped by the error about a schema that Parquet has no columns
// for.
var ErrSchema = errors.New("not a schema of Parquet columns")

// Physical types (parquet.thrift, Type).
const (
	physicalBoolean   = 0
	physicalInt32     = 1
	physicalInt64     = 2
	physicalFloat     = 4
	physicalDouble    = 5
	physicalByteArray = 6
	physicalFixed     = 7
)

// Repetition types (parquet.thrift, FieldRepetitionType).
const (
	required = 0
	optional = 1
	repeated = 2
)

// node is a type's place in the columns.
type node struct {
	def      uint8 // definition level of a value that isn't null
	rep      uint8 // repetition level of the items after the first
	from, to int   // the leaves in it
}

// leaf is a column.
type leaf struct {
	path           []string
	typ            *schema.Type
	physical       int32
	size           int // of physicalFixed
	maxDef, maxRep uint8
}

// tree is a schema compiled to columns. It is immutable, but for the pool.
type tree struct {
	schema   *schema.Schema
	root     *schema.Record // the schema's, its types numbered: Place is an index of nodes
	nodes    []node
	leaves   []leaf
	elements []byte // the footer's list of schema elements, without its header
	count    int    // of those elements
	variant  bool   // free-form columns are VARIANT
	scratch  sync.Pool
}

// compiler builds a tree.
type compiler struct {
	tree *tree
	err  error // of describing an element
	path []string
	open map[*schema.Record]bool
}

func compile(s *schema.Schema, variant bool) (*tree, error) {
	c := &compiler{tree: &tree{schema: s, variant: variant}, open: map[*schema.Record]bool{s.Root: true}}
	c.group("record", -1, len(s.Root.Fields), nil)
	var err error
	if c.tree.root, err = c.fields(s.Root, node{}); err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, fmt.Errorf("describe the schema: %w", c.err)
	}
	return c.tree, nil
}

// fields compiles a record's fields and returns a copy of it that has them.
func (c *compiler) fields(r *schema.Record, in node) (*schema.Record, error) {
	numbered := *r
	numbered.Fields = make([]*schema.Field, len(r.Fields))
	for i, f := range r.Fields {
		t, err := c.node(f.Column, f.Type, in.def, in.rep)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		field := *f
		field.Type = t
		numbered.Fields[i] = &field
	}
	return &numbered, nil
}

// node compiles a type, below a parent of the given levels, and returns a copy
// of it that knows its place.
func (c *compiler) node(name string, of *schema.Type, def, rep uint8) (*schema.Type, error) {
	t := *of
	t.Place = len(c.tree.nodes)
	c.tree.nodes = append(c.tree.nodes, node{})
	n := node{def: def, rep: rep, from: len(c.tree.leaves)}
	repetition := int32(required)
	if t.Nullable {
		n.def, repetition = def+1, optional
	}
	c.path = append(c.path, name)
	var err error
	switch {
	case len(c.path) > maxNesting:
		err = fmt.Errorf("%w: it nests more than %d deep", ErrSchema, maxNesting)
	case t.Kind == schema.RecordKind:
		err = c.record(name, &t, n, repetition)
	case t.Kind == schema.Array:
		n.rep++
		err = c.list(name, &t, n, repetition)
	case t.Kind == schema.Map:
		n.rep++
		err = c.mapOf(name, &t, n, repetition)
	case t.Logical == schema.FreeForm && c.tree.variant:
		c.asVariant(name, n, repetition)
	default:
		err = c.scalar(name, &t, n, repetition)
	}
	c.path = c.path[:len(c.path)-1]
	n.to = len(c.tree.leaves)
	c.tree.nodes[t.Place] = n
	return &t, err
}

// maxNesting keeps the levels well within their byte: each type adds at most
// two.
const maxNesting = 64

func (c *compiler) record(name string, t *schema.Type, n node, repetition int32) (err error) {
	r := t.Record
	if c.open[r] {
		return fmt.Errorf("%w: the record %q contains itself", ErrSchema, r.Name)
	}
	c.open[r] = true
	defer delete(c.open, r)
	c.group(name, repetition, len(r.Fields), nil)
	t.Record, err = c.fields(r, n)
	return err
}

// list is three levels: the list, a repeated group, the element
// (LogicalTypes.md, "Lists").
func (c *compiler) list(name string, t *schema.Type, n node, repetition int32) (err error) {
	c.group(name, repetition, 1, func(e *format.SchemaElement) { annotate(e, deprecated.List, &format.ListType{}) })
	c.group("list", repeated, 1, nil)
	c.path = append(c.path, "list")
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if t.Items, err = c.node("element", t.Items, n.def+1, n.rep); err != nil {
		return fmt.Errorf("items: %w", err)
	}
	return nil
}

// mapOf is three levels too (LogicalTypes.md, "Maps"). Its first leaf has the
// keys.
func (c *compiler) mapOf(name string, t *schema.Type, n node, repetition int32) (err error) {
	c.group(name, repetition, 1, func(e *format.SchemaElement) { annotate(e, deprecated.Map, &format.MapType{}) })
	c.group("key_value", repeated, 2, nil)
	c.path = append(c.path, "key_value")
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if _, err = c.node("key", &schema.Type{Kind: schema.String}, n.def+1, n.rep); err != nil {
		return err
	}
	if t.Items, err = c.node("value", t.Items, n.def+1, n.rep); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	return nil
}

// asVariant is a group of two columns (VariantEncoding.md).
func (c *compiler) asVariant(name string, n node, repetition int32) {
	c.group(name, repetition, 2, func(e *format.SchemaElement) {
		e.LogicalType.Value = &format.VariantType{SpecificationVersion: 1}
	})
	for _, part := range []string{"metadata", "value"} {
		c.path = append(c.path, part)
		c.leaf(leaf{typ: &schema.Type{Kind: schema.Bytes}, physical: physicalByteArray, maxDef: n.def, maxRep: n.rep}, part, required)
		c.path = c.path[:len(c.path)-1]
	}
}

func (c *compiler) scalar(name string, t *schema.Type, n node, repetition int32) error {
	l := leaf{typ: t, maxDef: n.def, maxRep: n.rep}
	switch {
	case t.Logical == schema.Decimal:
		// A fixed length is what every reader takes, Hive included.
		if t.Kind == schema.Bytes {
			t.Kind, t.Size = schema.Fixed, t.DecimalSize()
		}
		l.physical, l.size = physicalFixed, t.Size
	case t.Kind == schema.Boolean:
		l.physical = physicalBoolean
	case t.Kind == schema.Int:
		l.physical = physicalInt32
	case t.Kind == schema.Long:
		l.physical = physicalInt64
	case t.Kind == schema.Float:
		l.physical = physicalFloat
	case t.Kind == schema.Double:
		l.physical = physicalDouble
	case t.Kind == schema.Bytes || t.Kind == schema.String || t.Kind == schema.Enum:
		l.physical = physicalByteArray
	case t.Kind == schema.Fixed:
		l.physical, l.size = physicalFixed, t.Size
	default:
		return fmt.Errorf("%w: %s, other than of null and one type, is no column; give it one type", ErrSchema, t)
	}
	c.leaf(l, name, repetition)
	return nil
}

func (c *compiler) leaf(l leaf, name string, repetition int32) {
	l.path = append([]string(nil), c.path...)
	c.tree.leaves = append(c.tree.leaves, l)
	c.element(name, repetition, &l)
}
