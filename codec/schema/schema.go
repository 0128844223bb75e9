// Package schema gives records a shape: which columns a Parquet or Avro part
// has, and which of a record's fields goes into which column.
//
// A schema is written in Avro's language, one for both formats. It is either
// given, a user's .avsc, or learned from the records themselves. Below are the
// two things that both formats do with a value: convert turns it into that of a
// column, walk takes a whole record apart. Here are
//   - the model: Schema, Record, Field, Type, and the names that readers take;
//   - the language: Parse reads what a user wrote, after goavro has checked it,
//     and a learned schema is written in it;
//   - learning: Schemas widens a schema by the records that it meets.
//
// It promises:
//   - A learned schema loses nothing. A field that a part's schema doesn't
//     know, or a value that its column can't hold, is JSON in the column
//     _extra of that record until the next part, whose schema is wider.
//   - A learned schema only widens: columns are added, never taken away, and a
//     type becomes one that holds the old values and the new.
//   - A given schema either holds a record or says which field it can't hold
//     and why. It never guesses.
//   - Nothing that is kept on disk is needed for correctness.
//
// It must never write a part or decide when one is rolled: schemas that change
// back and forth make no small files.
package schema

import (
	"time"

	"github.com/tinylib/msgp/msgp"
)

// Kind is the type of a column, or of what a column consists of.
type Kind uint8

// The kinds are Avro's. Null is only a branch of a Union.
const (
	Null Kind = iota
	Boolean
	Int
	Long
	Float
	Double
	Bytes
	String
	Fixed
	Enum
	Array
	Map
	RecordKind
	Union
)

func (k Kind) String() string {
	names := [...]string{"null", "boolean", "int", "long", "float", "double", "bytes", "string", "fixed", "enum", "array", "map", "record", "union"}
	if int(k) < len(names) {
		return names[k]
	}
	return "kind"
}

// Logical is what a Kind's values mean.
type Logical uint8

// The logical types. Avro tells readers to ignore those that they don't know,
// which FreeForm relies on: to them it is a plain string.
const (
	None Logical = iota
	Date
	TimeMillis
	TimeMicros
	TimestampMillis
	TimestampMicros
	LocalTimestampMillis
	LocalTimestampMicros
	Decimal
	UUID
	// FreeForm is a string that holds any value: text as it is, arrays and
	// maps as JSON. Parquet may write it as VARIANT.
	FreeForm
)

func (l Logical) String() string {
	if names := logicalNames(); int(l) < len(names) {
		return names[l]
	}
	return ""
}

func logicalNames() []string {
	return []string{
		"", "date", "time-millis", "time-micros", "timestamp-millis", "timestamp-micros",
		"local-timestamp-millis", "local-timestamp-micros", "decimal", "uuid", "free-form",
	}
}

// Type is the type of a field, of an array's items or of a map's values. It is
// immutable once it is part of a Schema.
type Type struct {
	Kind    Kind
	Logical Logical
	// Nullable is a union of null and this type; NullSecond says that the
	// union names null second.
	Nullable   bool
	NullSecond bool

	Items     *Type   // of an Array, and the values of a Map
	Record    *Record // of a RecordKind
	Branches  []*Type // of a Union, which is any but [null, T], [T, null]
	Symbols   []string
	Name      string // full name of an Enum or Fixed
	Size      int    // of a Fixed, in bytes
	Precision int    // of a Decimal, in digits
	Scale     int    // of a Decimal

	// Place numbers the types of a copy of a schema that a format has made for
	// itself, so that it knows where in the schema a value belongs: a type that is
	// named in two places has one there. It is 0 in every other schema.
	Place int
}

// String is the type in words, for reasons.
func (t *Type) String() string {
	if t.Logical != None {
		return t.Logical.String()
	}
	return t.Kind.String()
}

// Record is a named sequence of fields.
type Record struct {
	Name   string // full name, namespace included
	Fields []*Field

	table keyTable
}

// From is where a field's value comes from.
type From uint8

// A field that isn't FromRecord is found in the event, outside its record. In a
// given schema the record's own value wins if it has one under the field's key.
const (
	FromRecord   From = iota
	FromTime          // the event's time
	FromTag           // the chunk's tag
	FromMetadata      // the event's metadata
	FromGroup         // the body of the event's group (OTLP resource and scope)
	FromRest          // what no other field of the record holds, as JSON
)

func fromNames() []string { return []string{"record", "time", "tag", "metadata", "group", "rest"} }

func (f From) String() string { return fromNames()[f] }

// Field is one field of a Record.
type Field struct {
	Name string // Avro's name: letters, digits, underscores
	// Column is Parquet's name, which may have letters of every script.
	Column string
	// Key is what the field is called in records, if it is Bound to one.
	Key     string
	Bound   bool
	Type    *Type
	From    From
	Default []byte // what a missing field holds, raw msgpack; nil for none

	rawKey []byte // Key as msgpack
}

// RawKey is the field's key as raw msgpack.
func (f *Field) RawKey() []byte { return f.rawKey }

// BoundTo reports whether the field is bound to the raw key. It may be false for
// another encoding of the same text: Record.Find knows.
func (f *Field) BoundTo(raw []byte) bool { return f.Bound && string(raw) == string(f.rawKey) }

// Rules say how far a value may be changed to fit its column.
type Rules uint8

const (
	// Learned columns take what their type holds exactly; the rest goes to
	// _extra.
	Learned Rules = iota
	// Lenient converts as documented in docs/schemas.md: numbers in text are
	// numbers, scalars are text.
	Lenient
	// Strict takes only values of the column's own type, and no record with a
	// field that the schema doesn't name.
	Strict
)

// Schema is the shape of a part's records. It is immutable and safe for
// concurrent use.
type Schema struct {
	Root  *Record
	Rules Rules
	// Warnings are what a given schema says without effect, each with its field.
	Warnings []string
	// Text is the schema as Avro's JSON, without white space.
	Text []byte
	// ID names the schema: equal texts have equal ids.
	ID uint64
	// Zone is whose local time a text without an offset is in a column of dates or
	// times, and whose day a date is; nil is UTC.
	Zone *time.Location
	// Rest is the index of the root's field that holds what no other does, -1
	// if there is none.
	Rest int
}

// finish completes a record whose fields are known.
func (r *Record) finish() {
	for _, f := range r.Fields {
		if f.rawKey == nil {
			f.rawKey = msgp.AppendString(nil, f.Key)
		}
	}
	r.table.build(r.Fields)
}

// newSchema makes the schema of a record.
func newSchema(root *Record, rules Rules, text []byte) *Schema {
	s := &Schema{Root: root, Rules: rules, Text: text, ID: fingerprint(text), Rest: -1}
	for i, f := range root.Fields {
		if f.From == FromRest {
			s.Rest = i
		}
	}
	return s
}
