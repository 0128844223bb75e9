package schema

import (
	"encoding/json"
	"fmt"
)

// besides looks for a logical type that stands beside a field's type. Avro wants
// it within the type: beside it, where many generators write it, no reader looks
// for it, and the column would be a plain number. It is refused, with what to
// write, unless the type has it too.
func (p *parser) besides(field map[string]any) error {
	name, given := field["logicalType"]
	if !given || has(field["type"], name) {
		return nil
	}
	if logicalOf(name) == None {
		p.warn("the logical type %v isn't known, and stands beside the type: it has no effect", name)
		return nil
	}
	return fmt.Errorf(`its logical type stands beside the type, where no reader looks for it; write "type": %s`, within(field["type"], field))
}

// has reports whether a type has the logical type itself.
func has(of, name any) bool {
	switch of := of.(type) {
	case map[string]any:
		return of["logicalType"] == name || has(of["type"], name)
	case []any:
		for _, branch := range of {
			if has(branch, name) {
				return true
			}
		}
	}
	return false
}

// within is the field's type as JSON, with the logical type in it.
func within(of any, field map[string]any) []byte {
	m := map[string]any{"type": of}
	switch of := of.(type) {
	case []any:
		list := make([]any, len(of))
		for i, branch := range of {
			if list[i] = branch; branch != any("null") {
				list[i] = json.RawMessage(within(branch, field))
			}
		}
		text, _ := json.Marshal(list)
		return text
	case map[string]any:
		m = pick(of, "type", "name", "namespace", "size")
	}
	for _, key := range []string{"logicalType", "precision", "scale"} {
		if v, ok := field[key]; ok {
			m[key] = v
		}
	}
	text, _ := json.Marshal(m)
	return text
}
