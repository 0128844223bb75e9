package avro

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/walk"
)

// appendLong writes a zig-zag varint (Avro 1.11, "Binary encoding").
func appendLong(dst []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	if u < 0x80 {
		return append(dst, byte(u))
	}
	return binary.AppendUvarint(dst, u)
}

func appendText(dst, s []byte) []byte { return append(appendLong(dst, int64(len(s))), s...) }

// appendBranch says which of the branches of a nullable type follows.
func appendBranch(dst []byte, t *schema.Type, null bool) []byte {
	switch {
	case !t.Nullable:
		return dst
	case t.NullSecond == null:
		return append(dst, 2)
	}
	return append(dst, 0)
}

// values appends what a walk emits in Avro's binary encoding.
type values struct {
	buf    []byte
	rest   []byte // the field for the rest
	restAt int    // its place in buf
}

var _ walk.Emitter = (*values)(nil)

// Mark implements walk.Emitter.
func (v *values) Mark() int { return len(v.buf) }

// Rewind implements walk.Emitter.
func (v *values) Rewind(mark int) { v.buf = v.buf[:mark] }

// Null implements walk.Emitter.
func (v *values) Null(t *schema.Type) { v.buf = appendBranch(v.buf, t, true) }

// Bool implements walk.Emitter.
func (v *values) Bool(t *schema.Type, is bool) {
	b := appendBranch(v.buf, t, false)
	if is {
		v.buf = append(b, 1)
	} else {
		v.buf = append(b, 0)
	}
}

// Long implements walk.Emitter.
func (v *values) Long(t *schema.Type, n int64) { v.buf = appendLong(appendBranch(v.buf, t, false), n) }

// Double implements walk.Emitter.
func (v *values) Double(t *schema.Type, f float64) {
	b := appendBranch(v.buf, t, false)
	if t.Kind == schema.Float {
		v.buf = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
	} else {
		v.buf = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
}

// Bytes implements walk.Emitter.
func (v *values) Bytes(t *schema.Type, s []byte) {
	b := appendBranch(v.buf, t, false)
	if t.Kind != schema.Fixed {
		b = appendLong(b, int64(len(s)))
	}
	v.buf = append(b, s...)
}

// Symbol implements walk.Emitter.
func (v *values) Symbol(t *schema.Type, i int, _ []byte) { v.Long(t, int64(i)) }

// Record implements walk.Emitter.
func (v *values) Record(t *schema.Type) { v.buf = appendBranch(v.buf, t, false) }

// Begin implements walk.Emitter: one block has all items.
func (v *values) Begin(t *schema.Type, n int) {
	v.buf = appendBranch(v.buf, t, false)
	if n > 0 {
		v.buf = appendLong(v.buf, int64(n))
	}
}

// Next implements walk.Emitter.
func (v *values) Next(*schema.Type) {}

// Key implements walk.Emitter.
func (v *values) Key(_ *schema.Type, key []byte) { v.buf = appendText(v.buf, key) }

// End implements walk.Emitter: the empty block that ends an array or a map.
func (v *values) End(*schema.Type) { v.buf = append(v.buf, 0) }

// Branch implements walk.Emitter.
func (v *values) Branch(t *schema.Type, i int) {
	v.buf = appendLong(appendBranch(v.buf, t, false), int64(i))
}

// Rest implements walk.Emitter.
func (v *values) Rest(*schema.Type) { v.restAt = len(v.buf) }

// PutRest implements walk.Emitter. The fields behind it are written already and
// make room.
func (v *values) PutRest(t *schema.Type, json []byte) {
	v.rest = appendBranch(v.rest[:0], t, json == nil)
	if json != nil {
		v.rest = appendText(v.rest, json)
	}
	v.buf = slices.Insert(v.buf, v.restAt, v.rest...)
}
