package schematest

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// Evolving makes chunks of a stream whose fields come and go, change their type
// and nest, by the generator r. Each is a few events; fields that belong to a
// phase appear only in its chunks.
func Evolving(r *rand.Rand, chunk int) []byte {
	var b []byte
	phase := chunk / 20 % 7
	for i := range 1 + r.IntN(5) {
		m := eventtest.Map{"id", chunk*10 + i, "log", "line " + strconv.Itoa(r.IntN(1000))}
		for range r.IntN(6) {
			m = append(m, key(r, phase), Value(r, 3))
		}
		b = eventtest.Append(b, eventtest.Event(eventtest.At(1767225600+int64(chunk), uint32(i)), eventtest.Map{}, m))
	}
	return b
}

// key is mostly one of few, so that they come again with other types.
func key(r *rand.Rand, phase int) any {
	switch r.IntN(12) {
	case 0:
		return "phase " + strconv.Itoa(phase)
	case 1:
		odd := []string{"a.b", "x-y", "日志", "", "1st", "ID", "Id", "_extra", "date", "tag", "null", "record", "a_b", "\xff"}
		return odd[r.IntN(len(odd))]
	case 2:
		return r.IntN(3)
	}
	return string(rune('a' + r.IntN(8)))
}

// Value is any value that JSON tells apart, nested up to the depth.
func Value(r *rand.Rand, depth int) any {
	kinds := 12
	if depth > 0 {
		kinds = 16
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2, 3:
		return r.IntN(1000)
	case 4:
		return int64(r.Uint64())
	case 5:
		return r.Uint64() | 1<<63
	case 6:
		return r.NormFloat64()
	case 7:
		odd := []float64{math.NaN(), math.Inf(1), 1 << 53, 0, math.Copysign(0, -1), 1e300}
		return odd[r.IntN(len(odd))]
	case 8:
		return float32(r.Float64())
	case 9:
		return []byte{byte(r.IntN(256)), 0xff}
	case 10:
		return eventtest.Ext{Type: int8(r.IntN(256) - 128), Data: []byte{1, 2, 3}}
	case 11:
		odd := []string{"", "x", "日志", "\xff\xfe", "5", "true", `{"a":1}`}
		return odd[r.IntN(len(odd))]
	case 12, 13:
		m := eventtest.Map{}
		for range r.IntN(4) {
			m = append(m, key(r, 0), Value(r, depth-1))
		}
		return m
	}
	list := []any{}
	one := Value(r, depth-1)
	for range r.IntN(4) {
		if r.IntN(3) == 0 {
			one = Value(r, depth-1)
		}
		list = append(list, one)
	}
	return list
}
