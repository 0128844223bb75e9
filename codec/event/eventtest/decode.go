package eventtest

import (
	"encoding/binary"
	"errors"
	"math"
)

// Why Decode fails.
var (
	ErrCut     = errors.New("the object is cut short")
	ErrIllegal = errors.New("byte 0xc1")
)

// Decode reads the object that b begins with into the types that Append packs:
// integers as int64, or uint64 above that, bin as []byte. n is its length and
// depth how many arrays and maps lie in one another. It is the plain recursive
// reading of the msgpack specification that the real reader is compared with.
func Decode(b []byte) (v any, n, depth int, err error) {
	d := decoder{b: b}
	v, err = d.value(0)
	return v, d.at, d.deepest, err
}

type decoder struct {
	b       []byte
	at      int
	deepest int
}

func (d *decoder) take(n int) ([]byte, error) {
	if n > len(d.b)-d.at {
		return nil, ErrCut
	}
	d.at += n
	return d.b[d.at-n : d.at], nil
}

// number reads an unsigned big-endian number of n bytes.
func (d *decoder) number(n int) (uint64, error) {
	p, err := d.take(n)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	copy(wide[8-n:], p)
	return binary.BigEndian.Uint64(wide[:]), nil
}

func (d *decoder) value(depth int) (any, error) {
	p, err := d.take(1)
	if err != nil {
		return nil, err
	}
	c := p[0]
	switch {
	case c <= 0x7f:
		return int64(c), nil
	case c <= 0x8f:
		return d.pairs(int(c&15), depth)
	case c <= 0x9f:
		return d.list(int(c&15), depth)
	case c <= 0xbf:
		return d.text(int(c & 31))
	case c >= 0xe0:
		return int64(int8(c)), nil
	case c == 0xc0:
		return nil, nil
	case c == 0xc1:
		return nil, ErrIllegal
	case c <= 0xc3:
		return c == 0xc3, nil
	}
	return d.long(c, depth)
}

func (d *decoder) long(c byte, depth int) (any, error) {
	width := map[byte]int{
		0xc4: 1, 0xc5: 2, 0xc6: 4, 0xc7: 1, 0xc8: 2, 0xc9: 4, 0xca: 4, 0xcb: 8,
		0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8,
		0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4,
	}[c]
	n, err := d.number(width)
	if err != nil {
		return nil, err
	}
	switch {
	case c <= 0xc6:
		p, err := d.take(int(n))
		return p, err
	case c <= 0xc9:
		return d.ext(int(n))
	case c == 0xca:
		return math.Float32frombits(uint32(n)), nil
	case c == 0xcb:
		return math.Float64frombits(n), nil
	case c <= 0xcf:
		if n > math.MaxInt64 {
			return n, nil
		}
		return int64(n), nil
	case c <= 0xd3:
		shift := 64 - 8*width
		return int64(n<<shift) >> shift, nil
	case c <= 0xd8:
		return d.ext(1 << (c - 0xd4))
	case c <= 0xdb:
		return d.text(int(n))
	case c <= 0xdd:
		return d.list(int(n), depth)
	}
	return d.pairs(int(n), depth)
}

func (d *decoder) text(n int) (any, error) {
	p, err := d.take(n)
	return string(p), err
}

func (d *decoder) ext(n int) (any, error) {
	typ, err := d.take(1)
	if err != nil {
		return nil, err
	}
	p, err := d.take(n)
	return Ext{int8(typ[0]), p}, err
}

func (d *decoder) list(n, depth int) (any, error) {
	list := []any{}
	return d.fill(list, n, depth)
}

func (d *decoder) pairs(n, depth int) (any, error) {
	list, err := d.fill([]any{}, 2*n, depth)
	return Map(list), err
}

func (d *decoder) fill(list []any, n, depth int) ([]any, error) {
	d.deepest = max(d.deepest, depth+1)
	for range n {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
