package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/linkedin/goavro/v2"
)

// check has goavro (v2.15) judge a decoded schema: its names, references, unions,
// symbols, sizes, and defaults of one plain value. What goavro refuses is
// refused in its words, with what to do about it. Everything else is for the parser
// to refuse: logical types, defaults of unions and of more than one value, and what
// no column can be.
func check(schema any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("goavro fails on it: %v", p)
		}
	}()
	c := checked{defined: map[string]bool{}, renamed: map[string]string{}}
	text, err := c.json(schema)
	if err != nil {
		return err
	}
	if _, err = goavro.NewCodec(text); err != nil {
		return fmt.Errorf("%w%s", err, advice(err.Error()))
	}
	return nil
}

// advice says in the words of a schema's author what goavro's mean.
func advice(goavro string) string {
	for _, a := range []struct{ of, text string }{
		{"ought to have valid name: map[", `a field's name is of letters, digits and underscores; give the record's own key as "` + propertyKey + `"`},
		{"ought to have name key", "a type has no name"},
		{"ought to have valid name", "a type's name is of letters, digits and underscores"},
		{"ought to have unique name", "a field is there twice"},
		{"ought to be unique type", "a union has a type twice"},
		{"symbols ought to", "an enum has no symbols"},
		{"ought to have symbols key", "an enum has no symbols"},
		{"symbol ", "a symbol is of letters, digits and underscores"},
		{"missing type", `a field or type has no type; write "type"`},
		{"unknown type name", "a named type is written out where it is first used"},
		{"default value", "a default is of the field's type"},
	} {
		if strings.Contains(goavro, a.of) {
			return " (" + a.text + ")"
		}
	}
	return ""
}

// checked is a schema as goavro gets it: without what it would refuse although
// Avro's specification and Java's parser take it.
type checked struct {
	defined map[string]bool   // full names
	renamed map[string]string // goavro's name of a type that has no namespace
	depth   int
}

// maxParts bounds how deep the JSON of a schema nests: a type takes up to four
// objects and lists, and its types lie at most maxNesting deep.
const maxParts = 4 * maxNesting

func (c *checked) json(schema any) (string, error) {
	v, err := c.part(schema, scope{})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// scope is the namespace that a name is in: Avro's, and the one that goavro
// takes it to be in.
type scope struct{ avro, goavro string }

func (c *checked) part(v any, in scope) (any, error) {
	if c.depth++; c.depth > maxParts {
		return nil, errTooDeep
	}
	defer func() { c.depth-- }()
	switch v := v.(type) {
	case string:
		return c.reference(v, in), nil
	case []any:
		if len(v) == 0 {
			return nil, errors.New("a union needs a type")
		}
		list := make([]any, len(v))
		for i, x := range v {
			var err error
			if list[i], err = c.part(x, in); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		return c.object(v, in)
	}
	return v, nil
}

// object copies a type. Of its attributes goavro gets those that it judges as
// Avro does. It gets no logical type: it refuses every default of a fixed decimal,
// panics at a second decimal of bytes without a scale, takes two types of one kind
// in a union for different, and has one of its own (validated-string).
func (c *checked) object(v map[string]any, in scope) (m map[string]any, err error) {
	m = pick(v, "name", "namespace", "symbols", "size")
	switch kind := v["type"]; kind {
	case "record", "error", "enum", "fixed":
		in = c.define(m, in)
		if m["type"] = kind; kind == "error" { // a record to Java's parser, unknown to goavro
			m["type"] = "record"
		}
	case "array", "map":
		m["type"] = kind
	default:
		if err := c.put(m, v, "type", in); err != nil {
			return nil, err
		}
	}
	fields, ok := v["fields"].([]any)
	if !ok {
		return m, errors.Join(c.put(m, v, "items", in), c.put(m, v, "values", in))
	}
	list := make([]any, len(fields))
	for i, f := range fields {
		if list[i], err = c.field(f, in); err != nil {
			return nil, err
		}
	}
	m["fields"] = list
	return m, nil
}

// field copies a field. goavro isn't given
//   - a default of a union, an array, a map or a record: it wants the branch named
//     in a union's, which Avro's JSON doesn't have;
//   - a default with bytes above 0x7f: it counts a fixed's bytes in UTF-8.
func (c *checked) field(v any, in scope) (any, error) {
	f, ok := v.(map[string]any)
	if !ok {
		return v, nil
	}
	m := pick(f, "name")
	if x, ok := f["default"]; ok && isPlain(f["type"], x) {
		m["default"] = x
	}
	return m, c.put(m, f, "type", in)
}

// put copies a type that is an attribute, if there is one.
func (c *checked) put(to, from map[string]any, key string, in scope) (err error) {
	if v, ok := from[key]; ok {
		to[key], err = c.part(v, in)
	}
	return err
}

func pick(from map[string]any, keys ...string) map[string]any {
	m := map[string]any{}
	for _, key := range keys {
		if v, ok := from[key]; ok {
			m[key] = v
		}
	}
	return m
}

// isPlain reports whether goavro judges a default of the type as Avro does.
func isPlain(of, v any) bool {
	switch of := of.(type) {
	case []any:
		return false
	case map[string]any:
		return isPlain(of["type"], v)
	}
	switch v := v.(type) {
	case string:
		return strings.IndexFunc(v, func(c rune) bool { return c > 0x7f }) < 0
	case []any, map[string]any:
		return false
	}
	return true
}

// define notes a named type, and returns the scope in it. goavro gets another name
// for a type without a namespace, since it takes an empty one for the namespace around
// it, and for one that is called like one of Avro's own, in whatever namespace, since
// it takes that for Avro's.
func (c *checked) define(m map[string]any, in scope) scope {
	name, _ := m["name"].(string)
	if ns, ok := m["namespace"].(string); !ok {
		delete(m, "namespace")
	} else if in.avro = ns; ns != "" {
		in.goavro = ns
	}
	full := fullName(name, in.avro)
	c.defined[full] = true
	at := strings.LastIndexByte(full, '.')
	ns, renamed := full[:max(at, 0)], full
	if isKind(full[at+1:]) {
		renamed += "_type"
	}
	inner := scope{ns, ns}
	if at < 0 && in.goavro != "" && name != "" {
		inner.goavro = "no_namespace"
		renamed = inner.goavro + "." + renamed
	}
	if renamed != full {
		c.renamed[full] = renamed
		m["name"] = renamed
	}
	return inner
}

// isKind reports whether Avro has a type of its own of that name.
func isKind(name string) bool {
	for k := Null; k <= Union; k++ {
		if k.String() == name {
			return true
		}
	}
	return name == "error"
}

func (c *checked) reference(name string, in scope) string {
	if primitive(name) != nil {
		return name
	}
	full := fullName(name, in.avro)
	if !c.defined[full] {
		full = name
	}
	if r, ok := c.renamed[full]; ok {
		return r
	}
	return name
}
