package schema

import (
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// appendType writes a learned type in Avro's JSON. Null comes first in its
// unions, so that the default is null: a reader's schema may be newer.
func appendType(dst []byte, t *Type) []byte {
	if t.Nullable {
		dst = append(dst, `["null",`...)
	}
	switch {
	case t.Kind == Array:
		dst = append(dst, `{"type":"array","items":`...)
		dst = append(appendType(dst, t.Items), '}')
	case t.Kind == RecordKind:
		dst = appendRecord(dst, t.Record)
	case t.Logical != None:
		dst = append(dst, `{"type":"`...)
		dst = append(dst, t.Kind.String()...)
		dst = append(dst, `","logicalType":"`...)
		dst = append(dst, t.Logical.String()...)
		dst = append(dst, '"', '}')
	default:
		dst = appendText(dst, t.Kind.String())
	}
	if t.Nullable {
		dst = append(dst, ']')
	}
	return dst
}

func appendText(dst []byte, s string) []byte { return json.AppendString(dst, []byte(s)) }

// appendRecord writes a record whose fields are all nullable.
func appendRecord(dst []byte, r *Record) []byte {
	dst = append(dst, `{"type":"record","name":`...)
	dst = appendText(dst, r.Name)
	dst = append(dst, `,"fields":[`...)
	for i, f := range r.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"name":`...)
		dst = appendText(dst, f.Name)
		dst = append(dst, `,"type":`...)
		dst = appendType(dst, f.Type)
		dst = append(dst, `,"default":null`...)
		dst = appendProperties(dst, f)
		dst = append(dst, '}')
	}
	return append(dst, ']', '}')
}

// appendProperties writes what Avro has no place for, where it isn't implied.
func appendProperties(dst []byte, f *Field) []byte {
	switch {
	case !f.Bound:
		dst = append(dst, `,"key":null`...)
	case f.Key != f.Name:
		dst = append(dst, `,"key":`...)
		dst = appendText(dst, f.Key)
	}
	if f.Column != f.Name {
		dst = append(dst, `,"column":`...)
		dst = appendText(dst, f.Column)
	}
	if f.From != FromRecord {
		dst = append(dst, `,"source":`...)
		dst = appendText(dst, f.From.String())
	}
	return dst
}
