package parquet

import "encoding/binary"

// thrift appends structs in Thrift's compact protocol, in which Parquet writes
// its headers and its footer
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
type thrift struct {
	b    []byte
	last int16 // id of the field before, in the struct that is open
}

// Types of the compact protocol.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI32    = 5
	typeI64    = 6
	typeBinary = 8
	typeList   = 9
	typeStruct = 12
)

func (t *thrift) header(id int16, typ byte) {
	if delta := id - t.last; delta > 0 && delta < 16 {
		t.b = append(t.b, byte(delta)<<4|typ)
	} else {
		t.b = binary.AppendVarint(append(t.b, typ), int64(id))
	}
	t.last = id
}

func (t *thrift) i32(id int16, v int32) {
	t.header(id, typeI32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i64(id int16, v int64) {
	t.header(id, typeI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) i8(id int16, v int8) {
	t.header(id, typeByte)
	t.b = append(t.b, byte(v))
}

func (t *thrift) boolean(id int16, v bool) {
	if v {
		t.header(id, typeTrue)
	} else {
		t.header(id, typeFalse)
	}
}

func (t *thrift) text(id int16, s string) {
	t.header(id, typeBinary)
	t.element(s)
}

func (t *thrift) bytes(id int16, b []byte) {
	t.header(id, typeBinary)
	t.b = binary.AppendUvarint(t.b, uint64(len(b)))
	t.b = append(t.b, b...)
}

// element is a string in a list.
func (t *thrift) element(s string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

// list announces n elements, which follow without headers.
func (t *thrift) list(id int16, typ byte, n int) {
	t.header(id, typeList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|typ)
	} else {
		t.b = binary.AppendUvarint(append(t.b, 0xf0|typ), uint64(n))
	}
}

// begin opens a struct in a field, open one in a list or at the top. Both
// return what end takes.
func (t *thrift) begin(id int16) (outer int16) {
	t.header(id, typeStruct)
	return t.open()
}

func (t *thrift) open() (outer int16) {
	outer, t.last = t.last, 0
	return outer
}

func (t *thrift) end(outer int16) {
	t.b = append(t.b, 0)
	t.last = outer
}

// empty is a struct without fields.
func (t *thrift) empty(id int16) { t.end(t.begin(id)) }
