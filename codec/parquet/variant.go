package parquet

import (
	"encoding/binary"
	"math"
	"sort"
	"unicode/utf8"

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
//	bin               binary
//	EventTime         timestamp with microseconds
//	other ext         an object of its type and its data
//	array, map        array, object; of a key that comes twice the last counts
type variantEncoder struct {
	names map[string]int
	list  []string
	out   []byte // what was encoded since reset
	pairs convert.Converter
}

// reset ends the life of what was returned.
func (e *variantEncoder) reset() {
	const keep = 1 << 20
	if cap(e.out) > keep {
		e.out = nil
	}
	e.out = e.out[:0]
	e.pairs.Reset()
}

// Basic types are the low two bits of a value's first byte.
const (
	basicPrimitive = 0
	basicShort     = 1
	basicObject    = 2
	basicArray     = 3
)

// Primitive types.
const (
	primitiveNull      = 0
	primitiveTrue      = 1
	primitiveFalse     = 2
	primitiveInt8      = 3
	primitiveInt16     = 4
	primitiveInt32     = 5
	primitiveInt64     = 6
	primitiveDouble    = 7
	primitiveDecimal16 = 10
	primitiveTimestamp = 12
	primitiveFloat     = 14
	primitiveBinary    = 15
	primitiveString    = 16
)

// encode returns the two columns of a VARIANT. They live until reset.
func (e *variantEncoder) encode(raw []byte) (metadata, value []byte, ok bool) {
	if _, ok := event.Span(raw); !ok {
		return nil, nil, false
	}
	if e.names == nil {
		e.names = map[string]int{}
	}
	clear(e.names)
	e.list = e.list[:0]
	e.gather(raw)
	sort.Strings(e.list)
	for i, name := range e.list {
		e.names[name] = i
	}
	from := len(e.out)
	e.out = e.appendMetadata(e.out)
	middle := len(e.out)
	e.out = e.append(e.out, raw)
	return e.out[from:middle:middle], e.out[middle:len(e.out):len(e.out)], true
}

// gather finds the names of all objects in the value.
func (e *variantEncoder) gather(raw []byte) {
	switch event.KindOf(raw) {
	case event.KindMap:
		pairs, base := e.pairs.Pairs(raw)
		for _, p := range pairs {
			e.name(p.Key)
			e.gather(p.Value)
		}
		e.pairs.ReleasePairs(base)
	case event.KindArray:
		for l := event.ElementsOf(raw); l.Next(); {
			e.gather(l.Value)
		}
	case event.KindExt:
		e.name([]byte("data"))
		e.name([]byte("type"))
	}
}

func (e *variantEncoder) name(key []byte) {
	if _, known := e.names[string(key)]; !known {
		name := string(key)
		e.names[name] = 0
		e.list = append(e.list, name)
	}
}

// widthFor is how many bytes, 1 to 4, hold n.
func widthFor(n int) int {
	switch {
	case n < 1<<8:
		return 1
	case n < 1<<16:
		return 2
	case n < 1<<24:
		return 3
	}
	return 4
}

func appendWidth(dst []byte, n, width int) []byte {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(n))
	return append(dst, b[:width]...)
}

// appendMetadata writes the names, sorted:
//
//	header = version 1 | sorted << 4 | (offset width - 1) << 6
//	count, count + 1 offsets, the names
func (e *variantEncoder) appendMetadata(dst []byte) []byte {
	total := 0
	for _, name := range e.list {
		total += len(name)
	}
	width := widthFor(max(total, len(e.list)))
	dst = append(dst, byte(1|1<<4|(width-1)<<6))
	dst = appendWidth(dst, len(e.list), width)
	at := 0
	for _, name := range e.list {
		dst = appendWidth(dst, at, width)
		at += len(name)
	}
	dst = appendWidth(dst, at, width)
	for _, name := range e.list {
		dst = append(dst, name...)
	}
	return dst
}

func primitive(dst []byte, id byte) []byte { return append(dst, id<<2|basicPrimitive) }

// append writes a value. It is whole.
func (e *variantEncoder) append(dst, raw []byte) []byte {
	switch event.KindOf(raw) {
	case event.KindBool:
		if v, _ := event.Bool(raw); v {
			return primitive(dst, primitiveTrue)
		}
		return primitive(dst, primitiveFalse)
	case event.KindInt:
		v, _ := event.Int(raw)
		return appendVariantInt(dst, v)
	case event.KindUint:
		v, _ := event.Uint(raw)
		dst = append(primitive(dst, primitiveDecimal16), 0)
		dst = binary.LittleEndian.AppendUint64(dst, v)
		return append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	case event.KindFloat32:
		v, _ := event.Float(raw)
		return binary.LittleEndian.AppendUint32(primitive(dst, primitiveFloat), math.Float32bits(float32(v)))
	case event.KindFloat64:
		v, _ := event.Float(raw)
		return binary.LittleEndian.AppendUint64(primitive(dst, primitiveDouble), math.Float64bits(v))
	case event.KindString:
		s, _ := event.Text(raw)
		if !utf8.Valid(s) {
			s = event.AppendValidUTF8(nil, s)
		}
		return appendVariantText(dst, s)
	case event.KindBin:
		b, _ := event.Text(raw)
		dst = binary.LittleEndian.AppendUint32(primitive(dst, primitiveBinary), uint32(len(b)))
		return append(dst, b...)
	case event.KindExt:
		return e.appendExt(dst, raw)
	case event.KindArray:
		return e.appendList(dst, raw)
	case event.KindMap:
		return e.appendMap(dst, raw)
	}
	return primitive(dst, primitiveNull)
}

func appendVariantInt(dst []byte, v int64) []byte {
	switch {
	case v == int64(int8(v)):
		return append(primitive(dst, primitiveInt8), byte(v))
	case v == int64(int16(v)):
		return binary.LittleEndian.AppendUint16(primitive(dst, primitiveInt16), uint16(v))
	case v == int64(int32(v)):
		return binary.LittleEndian.AppendUint32(primitive(dst, primitiveInt32), uint32(v))
	}
	return binary.LittleEndian.AppendUint64(primitive(dst, primitiveInt64), uint64(v))
}

// appendVariantText writes fewer than 64 bytes in the short form.
func appendVariantText(dst, s []byte) []byte {
	if len(s) < 64 {
		return append(append(dst, byte(len(s))<<2|basicShort), s...)
	}
	dst = binary.LittleEndian.AppendUint32(primitive(dst, primitiveString), uint32(len(s)))
	return append(dst, s...)
}

// appendExt writes an EventTime as a timestamp, and any other ext as an object
// of its data, in binary, and its type.
func (e *variantEncoder) appendExt(dst, raw []byte) []byte {
	typ, data, _ := event.Ext(raw)
	if micros, ok := e.pairs.Long(&schema.Type{Kind: schema.Long, Logical: schema.TimestampMicros}, raw); ok {
		return binary.LittleEndian.AppendUint64(primitive(dst, primitiveTimestamp), uint64(micros))
	}
	var value []byte
	value = binary.LittleEndian.AppendUint32(primitive(value, primitiveBinary), uint32(len(data)))
	value = append(value, data...)
	cut := len(value)
	value = appendVariantInt(value, int64(typ))
	return e.object(dst, []int{e.names["data"], e.names["type"]}, []int{0, cut, len(value)}, value)
}

func (e *variantEncoder) appendList(dst, raw []byte) []byte {
	l := event.ElementsOf(raw)
	n := l.Left()
	offsets := make([]int, 1, n+1)
	var values []byte
	for l.Next() {
		values = e.append(values, l.Value)
		offsets = append(offsets, len(values))
	}
	width := widthFor(len(values))
	header := byte(width - 1)
	count := 1
	if n > 255 {
		header, count = header|1<<2, 4
	}
	dst = append(dst, header<<2|basicArray)
	dst = appendWidth(dst, n, count)
	for _, o := range offsets {
		dst = appendWidth(dst, o, width)
	}
	return append(dst, values...)
}

func (e *variantEncoder) appendMap(dst, raw []byte) []byte {
	pairs, base := e.pairs.Pairs(raw)
	defer e.pairs.ReleasePairs(base)
	sort.Slice(pairs, func(i, j int) bool { return string(pairs[i].Key) < string(pairs[j].Key) })
	ids := make([]int, len(pairs))
	offsets := make([]int, 1, len(pairs)+1)
	var values []byte
	for i, p := range pairs {
		ids[i] = e.names[string(p.Key)]
		values = e.append(values, p.Value)
		offsets = append(offsets, len(values))
	}
	return e.object(dst, ids, offsets, values)
}

// object writes fields in the order of their names:
//
//	header = (offset width - 1) | (id width - 1) << 2 | large << 4
//	count, ids, count + 1 offsets, values
func (e *variantEncoder) object(dst []byte, ids, offsets []int, values []byte) []byte {
	width, idWidth := widthFor(len(values)), widthFor(len(e.list))
	header := byte(width-1) | byte(idWidth-1)<<2
	count := 1
	if len(ids) > 255 {
		header, count = header|1<<4, 4
	}
	dst = append(dst, header<<2|basicObject)
	dst = appendWidth(dst, len(ids), count)
	for _, id := range ids {
		dst = appendWidth(dst, id, idWidth)
	}
	for _, o := range offsets {
		dst = appendWidth(dst, o, width)
	}
	return append(dst, values...)
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
