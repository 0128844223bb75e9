package walk

import "github.com/out-hdfs/out_hdfs/codec/schema"

// Emitter writes the values of records in a format. The walk calls it in the
// schema's order; each value comes with its type, which the schema says is
// there. Bytes live until the walker's Reset.
//
// A value of a nullable type is either Null or the value itself.
type Emitter interface {
	// Mark returns where the emitter is, for Rewind, which takes back everything
	// since. A record begins with a Mark, and so does each try of a union.
	Mark() int
	Rewind(mark int)

	// Null writes the null of a nullable type, whatever its kind is.
	Null(t *schema.Type)
	Bool(t *schema.Type, v bool)
	// Long writes an Int or a Long, in the unit of its logical type.
	Long(t *schema.Type, v int64)
	// Double writes a Float or a Double.
	Double(t *schema.Type, v float64)
	// Bytes writes a String, Bytes, a Fixed of its size, or a Decimal's unscaled
	// value.
	Bytes(t *schema.Type, b []byte)
	// Symbol writes an Enum's symbol, of which i is the index and s the text.
	Symbol(t *schema.Type, i int, s []byte)

	// Record begins a record, whose fields follow.
	Record(t *schema.Type)
	// Begin begins an array or a map of n values, Next comes before each value
	// but the first, Key before the value of a map, and End behind the last.
	Begin(t *schema.Type, n int)
	Next(t *schema.Type)
	Key(t *schema.Type, key []byte)
	End(t *schema.Type)
	// Branch says of which branch of a union the value is that follows.
	Branch(t *schema.Type, i int)

	// Rest comes in the place of the field for the rest, whose value is known
	// when all other fields are written: PutRest then writes it, JSON, or null if
	// that is nil. A field that FreeForm takes has no PutRest.
	Rest(t *schema.Type)
	PutRest(t *schema.Type, json []byte)
}

// FreeForm writes free-form values in a way of the format's own. Without one they
// are text.
type FreeForm interface {
	// FreeForm writes the value, raw msgpack, and returns false if it can't: then
	// nothing is written. It is called in the schema's order, but for the field for
	// the rest, which comes last.
	FreeForm(t *schema.Type, raw []byte) bool
}
