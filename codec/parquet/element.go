package parquet

import "github.com/out-hdfs/out_hdfs/codec/schema"

// Numbers of parquet.thrift: ConvertedType, for readers before 2.4, and the
// fields of LogicalType.
const (
	convertedUTF8 = 0
	convertedMap  = 1
	convertedList = 3

	logicalString  = 1
	logicalMap     = 2
	logicalList    = 3
	logicalDecimal = 5
	logicalTime    = 7
	logicalStamp   = 8
	logicalVariant = 16
)

// annotate writes a converted type and its logical type without parameters.
func annotate(t *thrift, converted int32, logical int16) {
	t.i32(6, converted)
	outer := t.begin(10)
	t.empty(logical)
	t.end(outer)
}

// group appends the schema element of a group. The root has no repetition,
// which -1 stands for.
func (c *compiler) group(name string, repetition int32, kids int, annotation func(*thrift)) {
	t := &c.thrift
	outer := t.open()
	if repetition >= 0 {
		t.i32(3, repetition)
	}
	t.text(4, name)
	t.i32(5, int32(kids))
	if annotation != nil {
		annotation(t)
	}
	t.end(outer)
	c.tree.count++
}

// element appends the schema element of a column.
func (c *compiler) element(name string, repetition int32, l *leaf) {
	t := &c.thrift
	outer := t.open()
	t.i32(1, l.physical)
	if l.physical == physicalFixed {
		t.i32(2, int32(l.size))
	}
	t.i32(3, repetition)
	t.text(4, name)
	meaning(t, l.typ)
	t.end(outer)
	c.tree.count++
}

// meaning writes what a column's values stand for.
func meaning(t *thrift, of *schema.Type) {
	switch of.Logical {
	case schema.Decimal:
		t.i32(6, 5)
		t.i32(7, int32(of.Scale))
		t.i32(8, int32(of.Precision))
		outer := t.begin(10)
		inner := t.begin(logicalDecimal)
		t.i32(1, int32(of.Scale))
		t.i32(2, int32(of.Precision))
		t.end(inner)
		t.end(outer)
		return
	case schema.Date:
		annotate(t, 6, 6)
		return
	case schema.TimeMillis, schema.TimeMicros:
		moment(t, 7, logicalTime, of.Logical == schema.TimeMicros, true)
		return
	case schema.TimestampMillis, schema.TimestampMicros:
		moment(t, 9, logicalStamp, of.Logical == schema.TimestampMicros, true)
		return
	case schema.LocalTimestampMillis, schema.LocalTimestampMicros:
		moment(t, -1, logicalStamp, of.Logical == schema.LocalTimestampMicros, false)
		return
	}
	if of.Kind == schema.String || of.Kind == schema.Enum {
		annotate(t, convertedUTF8, logicalString)
	}
}

// moment writes a time of day or a timestamp. The converted type of
// microseconds is one above that of milliseconds; local ones have none.
func moment(t *thrift, converted int32, logical int16, micros, utc bool) {
	unit := int16(1)
	if micros {
		unit = 2
	}
	if converted >= 0 {
		t.i32(6, converted+int32(unit)-1)
	}
	outer := t.begin(10)
	inner := t.begin(logical)
	t.boolean(1, utc)
	of := t.begin(2)
	t.empty(unit)
	t.end(of)
	t.end(inner)
	t.end(outer)
}
