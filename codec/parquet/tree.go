package parquet

import (
	"errors"
	"fmt"
	"sync"

	"github.com/out-hdfs/out_hdfs/codec/schema"
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

// node is a type of the schema as Parquet nests it.
type node struct {
	field *schema.Field // nil for items, keys and values
	typ   *schema.Type
	name  string
	// optional says that null is a value; def is then one above the parent's.
	optional bool
	def      uint8   // definition level of a value that isn't null
	rep      uint8   // repetition level of the items after the first
	kids     []*node // a record's fields, an array's item, a map's key and value
	from, to int     // the leaves in it
	variant  bool    // two leaves: metadata and value
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
	root     []*node
	leaves   []leaf
	elements []byte // the footer's list of schema elements, without its header
	count    int    // of those elements
	scratch  sync.Pool
}

// compiler builds a tree.
type compiler struct {
	tree    *tree
	variant bool // free-form columns are VARIANT
	thrift  thrift
	path    []string
	open    map[*schema.Record]bool
}

func compile(s *schema.Schema, variant bool) (*tree, error) {
	c := &compiler{tree: &tree{schema: s}, variant: variant, open: map[*schema.Record]bool{s.Root: true}}
	c.group("record", -1, len(s.Root.Fields), nil)
	for _, f := range s.Root.Fields {
		n, err := c.field(f, 0, 0)
		if err != nil {
			return nil, err
		}
		c.tree.root = append(c.tree.root, n)
	}
	c.tree.elements = c.thrift.b
	return c.tree, nil
}

func (c *compiler) field(f *schema.Field, def, rep uint8) (*node, error) {
	n, err := c.node(f.Column, f.Type, def, rep)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", f.Name, err)
	}
	n.field = f
	return n, nil
}

// node compiles a type, below a parent of the given levels.
func (c *compiler) node(name string, t *schema.Type, def, rep uint8) (*node, error) {
	n := &node{typ: t, name: name, optional: t.Nullable, def: def, rep: rep, from: len(c.tree.leaves)}
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
		err = c.record(n, repetition)
	case t.Kind == schema.Array:
		err = c.list(n, repetition)
	case t.Kind == schema.Map:
		err = c.mapOf(n, repetition)
	case t.Logical == schema.FreeForm && c.variant:
		c.asVariant(n, repetition)
	default:
		err = c.scalar(n, repetition, rep)
	}
	c.path = c.path[:len(c.path)-1]
	n.to = len(c.tree.leaves)
	return n, err
}

// maxNesting keeps the levels well within their byte: each type adds at most
// two.
const maxNesting = 64

func (c *compiler) record(n *node, repetition int32) error {
	r := n.typ.Record
	if c.open[r] {
		return fmt.Errorf("%w: the record %q contains itself", ErrSchema, r.Name)
	}
	c.open[r] = true
	defer delete(c.open, r)
	c.group(n.name, repetition, len(r.Fields), nil)
	for _, f := range r.Fields {
		kid, err := c.field(f, n.def, n.rep)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
	}
	return nil
}

// list is three levels: the list, a repeated group, the element
// (LogicalTypes.md, "Lists").
func (c *compiler) list(n *node, repetition int32) error {
	c.group(n.name, repetition, 1, func(t *thrift) { annotate(t, convertedList, logicalList) })
	c.group("list", repeated, 1, nil)
	c.path = append(c.path, "list")
	defer func() { c.path = c.path[:len(c.path)-1] }()
	n.rep++
	item, err := c.node("element", n.typ.Items, n.def+1, n.rep)
	if err != nil {
		return fmt.Errorf("items: %w", err)
	}
	n.kids = []*node{item}
	return nil
}

// mapOf is three levels too (LogicalTypes.md, "Maps").
func (c *compiler) mapOf(n *node, repetition int32) error {
	c.group(n.name, repetition, 1, func(t *thrift) { annotate(t, convertedMap, logicalMap) })
	c.group("key_value", repeated, 2, nil)
	c.path = append(c.path, "key_value")
	defer func() { c.path = c.path[:len(c.path)-1] }()
	n.rep++
	key, err := c.node("key", &schema.Type{Kind: schema.String}, n.def+1, n.rep)
	if err != nil {
		return err
	}
	value, err := c.node("value", n.typ.Items, n.def+1, n.rep)
	if err != nil {
		return fmt.Errorf("values: %w", err)
	}
	n.kids = []*node{key, value}
	return nil
}

// asVariant is a group of two columns (VariantEncoding.md).
func (c *compiler) asVariant(n *node, repetition int32) {
	n.variant = true
	c.group(n.name, repetition, 2, func(t *thrift) {
		outer := t.begin(10)
		inner := t.begin(logicalVariant)
		t.i8(1, 1)
		t.end(inner)
		t.end(outer)
	})
	for _, name := range []string{"metadata", "value"} {
		c.path = append(c.path, name)
		c.leaf(leaf{typ: &schema.Type{Kind: schema.Bytes}, physical: physicalByteArray, maxDef: n.def, maxRep: n.rep}, name, required)
		c.path = c.path[:len(c.path)-1]
	}
}

func (c *compiler) scalar(n *node, repetition int32, rep uint8) error {
	l := leaf{typ: n.typ, maxDef: n.def, maxRep: rep}
	switch t := n.typ; {
	case t.Logical == schema.Decimal:
		// A fixed length is what every reader takes, Hive included.
		fixed := *t
		if t.Kind == schema.Bytes {
			fixed.Kind, fixed.Size = schema.Fixed, t.DecimalSize()
		}
		n.typ, l.typ = &fixed, &fixed
		l.physical, l.size = physicalFixed, fixed.Size
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
	c.leaf(l, n.name, repetition)
	return nil
}

func (c *compiler) leaf(l leaf, name string, repetition int32) {
	l.path = append([]string(nil), c.path...)
	c.tree.leaves = append(c.tree.leaves, l)
	c.element(name, repetition, &l)
}
