package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrSchema is wrapped by every error about a schema's text.
var ErrSchema = errors.New("not a usable Avro schema")

// Properties of a field that this package adds to Avro's language. Avro tells
// readers to take unknown ones for metadata.
const (
	propertyKey    = "key"    // the field's key in records; null if it isn't in them
	propertyColumn = "column" // the column's name in Parquet
	propertySource = "source" // where else the value comes from: see From
)

// RestKey is the name of the field that takes what no other field holds.
const RestKey = "_extra"

// Parse reads a schema of the user's: a record in Avro's JSON. dateKey and
// tagKey name the fields that take the event's time and tag where the record
// has none of its own; empty keys name none.
func Parse(text []byte, rules Rules, dateKey, tagKey string) (*Schema, error) {
	root, warnings, err := parseRoot(text)
	if err != nil {
		return nil, err
	}
	for _, f := range root.Fields {
		switch {
		case f.From != FromRecord:
		case f.Key == dateKey && dateKey != "" && holdsTime(f.Type):
			f.From = FromTime
		case f.Key == tagKey && tagKey != "" && f.Type.Kind == String:
			f.From = FromTag
		case f.Name == RestKey && f.Type.Kind == String:
			f.From, f.Bound = FromRest, false
		}
	}
	root.finish()
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	s := newSchema(root, rules, compact.Bytes())
	s.Warnings = warnings
	return s, nil
}

// parseRoot reads a schema whose fields keep their sources as written. Records
// below the root are finished.
func parseRoot(text []byte) (root *Record, warnings []string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("%w: not JSON: %w", ErrSchema, err)
	}
	if d.More() {
		return nil, nil, fmt.Errorf("%w: something follows the schema", ErrSchema)
	}
	if err := check(v); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	p := parser{named: map[string]*Type{}}
	t, err := p.parse(v, "")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if t.Kind != RecordKind || t.Nullable {
		return nil, nil, fmt.Errorf("%w: it is of type %s; write a record, whose fields are the columns", ErrSchema, t)
	}
	rest := 0
	for _, f := range t.Record.Fields {
		if err := checkSource(f); err != nil {
			return nil, nil, fmt.Errorf("%w: field %q: %w", ErrSchema, f.Name, err)
		}
		if f.From == FromRest {
			rest++
		}
	}
	if rest > 1 {
		return nil, nil, fmt.Errorf("%w: more than one field has the source %s", ErrSchema, FromRest)
	}
	for _, named := range p.named {
		if named.Record != nil {
			named.Record.finish()
		}
	}
	return t.Record, p.warnings, nil
}

func holdsTime(t *Type) bool {
	switch t.Kind {
	case Double, String:
		return t.Logical == None || t.Logical == FreeForm
	case Long:
		return t.Logical != TimeMicros
	case Int:
		return t.Logical == Date
	}
	return false
}

func checkSource(f *Field) error {
	ok := true
	switch t := f.Type; f.From {
	case FromTime:
		ok = holdsTime(t)
	case FromTag, FromRest:
		ok = t.Kind == String
	case FromMetadata, FromGroup:
		ok = t.Kind == String || t.Kind == Map || t.Kind == RecordKind
	}
	if !ok {
		return fmt.Errorf("the type %s can't hold the %s", f.Type, f.From)
	}
	return nil
}

// parser builds the types of a schema that check has found sound. The JSON has
// been decoded with numbers kept as text.
type parser struct {
	named    map[string]*Type // by full name
	depth    int
	path     []string // the fields around what is parsed, outermost first
	warnings []string
}

// warn notes what is taken but has no effect, with the field.
func (p *parser) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf("field %q: ", strings.Join(p.path, "."))+fmt.Sprintf(format, args...))
}

// maxNesting bounds a schema's recursion.
const maxNesting = 64

var errTooDeep = fmt.Errorf("types lie more than %d deep in one another", maxNesting)

func (p *parser) parse(v any, namespace string) (*Type, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, errTooDeep
	}
	defer func() { p.depth-- }()
	switch v := v.(type) {
	case string:
		return p.reference(v, namespace)
	case []any:
		return p.union(v, namespace)
	case map[string]any:
		return p.complex(v, namespace)
	}
	return nil, fmt.Errorf("%v is no type", v)
}

func (p *parser) reference(name, namespace string) (*Type, error) {
	if t := primitive(name); t != nil {
		return t, nil
	}
	for _, full := range []string{fullName(name, namespace), name} {
		if t := p.named[full]; t != nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("there is no type %q; a named type is written out where it is first used", name)
}

// primitive is the type of that name, nil if it isn't a primitive one.
func primitive(name string) *Type {
	for k := Null; k <= String; k++ {
		if k.String() == name {
			return &Type{Kind: k}
		}
	}
	return nil
}

func fullName(name, namespace string) string {
	if namespace == "" || strings.Contains(name, ".") {
		return name
	}
	return namespace + "." + name
}

// union reads a list of types. Null and one other are a Nullable type.
func (p *parser) union(list []any, namespace string) (*Type, error) {
	u := &Type{Kind: Union}
	for _, v := range list {
		t, err := p.parse(v, namespace)
		if err != nil {
			return nil, err
		}
		if t.Kind == Union || t.Nullable {
			return nil, errors.New("a union can't hold a union")
		}
		u.Branches = append(u.Branches, t)
	}
	b := u.Branches
	switch {
	case len(b) == 2 && b[0].Kind == Null:
		return b[1].nullable(false), nil
	case len(b) == 2 && b[1].Kind == Null:
		return b[0].nullable(true), nil
	}
	return u, nil
}

func (t *Type) nullable(second bool) *Type {
	n := *t
	n.Nullable, n.NullSecond = true, second
	return &n
}

func (p *parser) complex(m map[string]any, namespace string) (*Type, error) {
	kind, ok := m["type"].(string)
	if !ok {
		return p.parse(m["type"], namespace)
	}
	switch kind {
	case "record", "error", "enum", "array", "map":
		if name, ok := m["logicalType"]; ok {
			p.warn("the logical type %v has no effect on the type %s", name, kind)
		}
	}
	switch kind {
	case "record", "error":
		return p.record(m, namespace)
	case "enum":
		return p.enum(m, namespace)
	case "fixed":
		return p.fixed(m, namespace)
	case "array", "map":
		attribute, k := "items", Array
		if kind == "map" {
			attribute, k = "values", Map
		}
		items, err := p.parse(m[attribute], namespace)
		if err != nil {
			return nil, fmt.Errorf("%s of the %s: %w", attribute, kind, err)
		}
		return &Type{Kind: k, Items: items}, nil
	}
	t, err := p.reference(kind, namespace)
	if err != nil {
		return nil, err
	}
	return p.withLogical(t, m)
}

// define names a new type.
func (p *parser) define(m map[string]any, namespace string, t *Type) (full, inner string, err error) {
	name, _ := m["name"].(string)
	if ns, ok := m["namespace"].(string); ok {
		namespace = ns
	}
	full = fullName(name, namespace)
	if p.named[full] != nil {
		return "", "", fmt.Errorf("the type %q is defined twice", full)
	}
	p.named[full] = t
	if at := strings.LastIndexByte(full, '.'); at >= 0 {
		inner = full[:at]
	}
	return full, inner, nil
}

func (p *parser) record(m map[string]any, namespace string) (*Type, error) {
	r := &Record{}
	t := &Type{Kind: RecordKind, Record: r}
	full, inner, err := p.define(m, namespace, t)
	if err != nil {
		return nil, err
	}
	r.Name = full
	list, _ := m["fields"].([]any)
	if len(list) == 0 {
		return nil, fmt.Errorf("the record %q has no fields", full)
	}
	columns, keys := map[string]bool{}, map[string]bool{}
	for _, v := range list {
		f, err := p.field(v, inner)
		if err != nil {
			return nil, err
		}
		if columns[f.Column] || f.Bound && keys[f.Key] {
			return nil, fmt.Errorf("the record %q has the column or the key of the field %q twice", full, f.Name)
		}
		columns[f.Column] = true
		if f.Bound {
			keys[f.Key] = true
		}
		r.Fields = append(r.Fields, f)
	}
	return t, nil
}

func (p *parser) field(v any, namespace string) (*Field, error) {
	m, _ := v.(map[string]any)
	f := &Field{Bound: true}
	f.Name, _ = m["name"].(string)
	if f.Name != avroName(f.Name) { // goavro takes what is behind a dot
		return nil, fmt.Errorf("%q is no field name: use letters, digits and underscores, and give the record's own key as %q", f.Name, propertyKey)
	}
	p.path = append(p.path, f.Name)
	defer func() { p.path = p.path[:len(p.path)-1] }()
	wrap := func(err error) error { return fmt.Errorf("field %q: %w", f.Name, err) }
	if err := f.properties(m); err != nil {
		return nil, wrap(err)
	}
	var err error
	if f.Type, err = p.parse(m["type"], namespace); err != nil {
		return nil, wrap(err)
	}
	if err := p.besides(m); err != nil {
		return nil, wrap(err)
	}
	switch {
	case f.From != FromRecord && len(p.path) > 1:
		p.warn("%s %q has no effect below the top; give it to a field of the outermost record", propertySource, f.From)
	case !f.Bound && f.From == FromRecord:
		p.warn("no record has a value for it, since its %s is null and it has no %s", propertyKey, propertySource)
	}
	if out, ok := m["default"]; ok {
		if f.Default, err = appendDefault(nil, f.Type, out); err != nil {
			return nil, wrap(fmt.Errorf("default: %w", err))
		}
	}
	return f, nil
}

// properties reads what this package adds to a field.
func (f *Field) properties(m map[string]any) error {
	f.Key, f.Column = f.Name, f.Name
	if v, ok := m[propertyKey]; ok {
		f.Key, f.Bound = v.(string)
		if v != nil && !f.Bound {
			return fmt.Errorf("%s is %v; write the key as text, or null", propertyKey, v)
		}
	}
	if v, ok := m[propertyColumn]; ok {
		name, ok := v.(string)
		if !ok || name == "" {
			return fmt.Errorf("%s is %v; write the column's name", propertyColumn, v)
		}
		f.Column = name
	}
	if v, ok := m[propertySource]; ok {
		for i, name := range fromNames() {
			if v == any(name) {
				f.From = From(i)
				if f.From == FromRest {
					f.Bound = false
				}
				return nil
			}
		}
		return fmt.Errorf("%s is %v; use one of %s", propertySource, v, strings.Join(fromNames(), ", "))
	}
	return nil
}
