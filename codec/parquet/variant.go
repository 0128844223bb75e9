package parquet

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"

	"github.com/parquet-go/parquet-go/variant"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/convert"
)

// variantEncoder turns msgpack values into Parquet's VARIANT: the names of all
// fields in one dictionary, and the value
// (https://github.com/apache/parquet-format/blob/master/VariantEncoding.md).
//
//	nil, bool         null, boolean
//	integers          int8 to int64, the smallest that fits; above decimal16
//	floats            float, double
//	string            string, short or long; invalid bytes as U+FFFD
//	bin               string if it is valid UTF-8, else binary
//	EventTime         timestamp with microseconds
//	other ext         an object of its type and its data
//	array, map        array, object; of a key that comes twice the last counts
type variantEncoder struct {
	names variant.MetadataBuilder
	value *variant.Builder
	out   []byte // what was encoded since reset
	pairs convert.Converter
}

// reset ends the life of what was returned.
func (e *variantEncoder) reset() {
	const keep = 1 << 20
	if cap(e.out) > keep {
		e.out, e.names, e.value = nil, variant.MetadataBuilder{}, nil
	}
	e.out = e.out[:0]
	e.pairs.Reset()
}

// encode returns the two columns of a VARIANT. They live until reset.
func (e *variantEncoder) encode(raw []byte) (metadata, value []byte, ok bool) {
	if _, ok := event.Span(raw); !ok {
		return nil, nil, false
	}
	if e.value == nil {
		e.value = variant.NewBuilderWithMetadata(&e.names)
	}
	e.names.Reset()
	e.value.Reset()
	e.put(raw)
	encoded, err := e.value.Bytes()
	if err != nil {
		return nil, nil, false
	}
	from := len(e.out)
	e.out = e.names.AppendTo(e.out)
	middle := len(e.out)
	e.out = append(e.out, encoded...)
	return e.out[from:middle:middle], e.out[middle:len(e.out):len(e.out)], true
}

// put writes a value. It is whole.
func (e *variantEncoder) put(raw []byte) {
	switch event.KindOf(raw) {
	case event.KindBool:
		v, _ := event.Bool(raw)
		e.value.Bool(v)
	case event.KindInt:
		v, _ := event.Int(raw)
		e.putInt(v)
	case event.KindUint:
		v, _ := event.Uint(raw)
		var unscaled [16]byte // little-endian
		binary.LittleEndian.PutUint64(unscaled[:], v)
		e.value.Decimal16(unscaled, 0)
	case event.KindFloat32:
		v, _ := event.Float(raw)
		e.value.Float(float32(v))
	case event.KindFloat64:
		v, _ := event.Float(raw)
		e.value.Double(v)
	case event.KindString, event.KindBin:
		s, ok := event.String(raw)
		switch {
		case !ok:
			e.value.Binary(s)
			return
		case !utf8.Valid(s):
			s = event.AppendValidUTF8(nil, s)
		}
		e.value.String(view(s))
	case event.KindExt:
		e.putExt(raw)
	case event.KindArray:
		e.value.BeginArray()
		for l := event.ElementsOf(raw); l.Next(); {
			e.put(l.Value)
		}
		e.value.EndArray()
	case event.KindMap:
		e.value.BeginObject()
		pairs, base := e.pairs.Pairs(raw)
		for _, p := range pairs {
			e.value.Field(view(p.Key))
			e.put(p.Value)
		}
		e.pairs.ReleasePairs(base)
		e.value.EndObject()
	default:
		e.value.Null()
	}
}

// view is b as a string, for the length of a call of the builder, which copies it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (e *variantEncoder) putInt(v int64) {
	switch {
	case v == int64(int8(v)):
		e.value.Int8(int8(v))
	case v == int64(int16(v)):
		e.value.Int16(int16(v))
	case v == int64(int32(v)):
		e.value.Int32(int32(v))
	default:
		e.value.Int64(v)
	}
}

// putExt writes an EventTime as a timestamp, and any other ext as an object of
// its data, in binary, and its type.
func (e *variantEncoder) putExt(raw []byte) {
	if micros, ok := e.pairs.Long(&schema.Type{Kind: schema.Long, Logical: schema.TimestampMicros}, raw); ok {
		e.value.Timestamp(micros)
		return
	}
	typ, data, _ := event.Ext(raw)
	e.value.BeginObject()
	e.value.Field("data")
	e.value.Binary(data)
	e.value.Field("type")
	e.putInt(int64(typ))
	e.value.EndObject()
}

// FreeForm implements walk.FreeForm: a value in the two columns of a VARIANT.
func (s *shredder) FreeForm(t *schema.Type, raw []byte) bool {
	metadata, value, ok := s.variant.encode(raw)
	if ok {
		n := &s.nodes[t.Place]
		s.text(n, n.from, n.def, metadata)
		s.text(n, n.from+1, n.def, value)
	}
	return ok
}
