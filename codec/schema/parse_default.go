package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/tinylib/msgp/msgp"
)

var errDefault = errors.New("it isn't of the field's type")

// appendDefault turns a default from the schema's JSON into what a record would
// hold, raw msgpack. A union's default is of its first branch; a nullable type's may
// be of either. Numbers out of their type's range, and what check keeps from goavro,
// are refused here.
func appendDefault(dst []byte, t *Type, v any) ([]byte, error) {
	if v == nil && (t.Nullable || t.Kind == Null) {
		return msgp.AppendNil(dst), nil
	}
	switch v := v.(type) {
	case bool:
		if t.Kind == Boolean {
			return msgp.AppendBool(dst, v), nil
		}
	case json.Number:
		return appendDefaultNumber(dst, t, v)
	case string:
		return appendDefaultText(dst, t, v)
	case []any:
		if t.Kind != Array {
			break
		}
		dst = msgp.AppendArrayHeader(dst, uint32(len(v)))
		for _, x := range v {
			var err error
			if dst, err = appendDefault(dst, t.Items, x); err != nil {
				return nil, err
			}
		}
		return dst, nil
	case map[string]any:
		return appendDefaultMap(dst, t, v)
	}
	if t.Kind == Union {
		return appendDefault(dst, t.Branches[0], v)
	}
	return nil, fmt.Errorf("%w, %s: %v", errDefault, t, v)
}

func appendDefaultNumber(dst []byte, t *Type, v json.Number) ([]byte, error) {
	switch t.Kind {
	case Int, Long:
		if n, err := v.Int64(); err == nil && t.InRange(n) {
			return msgp.AppendInt64(dst, n), nil
		}
	case Float, Double:
		if f, err := v.Float64(); err == nil {
			return msgp.AppendFloat64(dst, f), nil
		}
	case Union:
		return appendDefaultNumber(dst, t.Branches[0], v)
	}
	return nil, fmt.Errorf("%w, %s: %s", errDefault, t, v)
}

// appendDefaultText reads bytes as Avro writes them in JSON: the code points 0
// to 255 are the bytes.
func appendDefaultText(dst []byte, t *Type, v string) ([]byte, error) {
	switch t.Kind {
	case String:
		return msgp.AppendString(dst, v), nil
	case Enum:
		for _, s := range t.Symbols {
			if s == v {
				return msgp.AppendString(dst, v), nil
			}
		}
	case Bytes, Fixed:
		var b []byte
		for _, c := range v {
			if c > 0xff {
				return nil, fmt.Errorf("%w: the bytes have the character %q", errDefault, c)
			}
			b = append(b, byte(c))
		}
		if t.Kind == Bytes || len(b) == t.Size {
			return msgp.AppendBytes(dst, b), nil
		}
	case Union:
		return appendDefaultText(dst, t.Branches[0], v)
	}
	return nil, fmt.Errorf("%w, %s: %q", errDefault, t, v)
}

func appendDefaultMap(dst []byte, t *Type, v map[string]any) ([]byte, error) {
	keys := make([]string, 0, len(v))
	for k := range v {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var types map[string]*Field
	switch t.Kind {
	case Union:
		return appendDefaultMap(dst, t.Branches[0], v)
	case RecordKind:
		types = map[string]*Field{}
		for _, f := range t.Record.Fields {
			types[f.Name] = f
		}
	case Map:
	default:
		return nil, fmt.Errorf("%w, %s: an object", errDefault, t)
	}
	dst = msgp.AppendMapHeader(dst, uint32(len(v)))
	for _, k := range keys {
		of, key := t.Items, k
		if t.Kind == RecordKind {
			f := types[k]
			if f == nil {
				return nil, fmt.Errorf("%w: it has no field %q", errDefault, k)
			}
			of, key = f.Type, f.Key
		}
		dst = msgp.AppendString(dst, key)
		var err error
		if dst, err = appendDefault(dst, of, v[k]); err != nil {
			return nil, err
		}
	}
	return dst, nil
}
