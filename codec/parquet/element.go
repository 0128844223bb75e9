package parquet

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// annotate says what an element stands for, in both of the format's ways: the
// converted type is for readers before 2.4.
func annotate(e *format.SchemaElement, converted deprecated.ConvertedType, logical format.LogicalTypeValue) {
	e.ConvertedType = thrift.New(converted)
	e.LogicalType.Value = logical
}

// group appends the schema element of a group. The root has no repetition,
// which -1 stands for.
func (c *compiler) group(name string, repetition int32, kids int, annotation func(*format.SchemaElement)) {
	e := format.SchemaElement{Name: name, NumChildren: thrift.New(int32(kids))}
	if repetition >= 0 {
		e.RepetitionType = thrift.New(format.FieldRepetitionType(repetition))
	}
	if annotation != nil {
		annotation(&e)
	}
	c.append(&e)
}

// element appends the schema element of a column.
func (c *compiler) element(name string, repetition int32, l *leaf) {
	e := format.SchemaElement{
		Name: name, Type: thrift.New(format.Type(l.physical)), RepetitionType: thrift.New(format.FieldRepetitionType(repetition)),
	}
	if l.physical == physicalFixed {
		e.TypeLength = thrift.New(int32(l.size))
	}
	meaning(&e, l.typ)
	c.append(&e)
}

func (c *compiler) append(e *format.SchemaElement) {
	if c.err == nil {
		c.tree.elements, c.err = appendStruct(c.tree.elements, e)
	}
	c.tree.count++
}

// meaning says what a column's values stand for.
func meaning(e *format.SchemaElement, of *schema.Type) {
	unit := format.TimeUnit{Value: &format.MilliSeconds{}}
	switch of.Logical {
	case schema.TimeMicros, schema.TimestampMicros, schema.LocalTimestampMicros:
		unit.Value = &format.MicroSeconds{}
	}
	switch of.Logical {
	case schema.Decimal:
		scale, precision := int32(of.Scale), int32(of.Precision)
		annotate(e, deprecated.Decimal, &format.DecimalType{Scale: scale, Precision: precision})
		e.Scale, e.Precision = thrift.New(scale), thrift.New(precision)
		return
	case schema.Date:
		annotate(e, deprecated.Date, &format.DateType{})
		return
	case schema.TimeMillis:
		annotate(e, deprecated.TimeMillis, &format.TimeType{IsAdjustedToUTC: true, Unit: unit})
		return
	case schema.TimeMicros:
		annotate(e, deprecated.TimeMicros, &format.TimeType{IsAdjustedToUTC: true, Unit: unit})
		return
	case schema.TimestampMillis:
		annotate(e, deprecated.TimestampMillis, &format.TimestampType{IsAdjustedToUTC: true, Unit: unit})
		return
	case schema.TimestampMicros:
		annotate(e, deprecated.TimestampMicros, &format.TimestampType{IsAdjustedToUTC: true, Unit: unit})
		return
	case schema.LocalTimestampMillis, schema.LocalTimestampMicros: // no converted type is of local time
		e.LogicalType.Value = &format.TimestampType{Unit: unit}
		return
	}
	if of.Kind == schema.String || of.Kind == schema.Enum {
		annotate(e, deprecated.UTF8, &format.StringType{})
	}
}
