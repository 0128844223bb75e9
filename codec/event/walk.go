package event

import "encoding/binary"

// MaxDepth is how many arrays and maps may lie in one another in a top-level
// object, its own array included. A deeper object is Malformed: whoever walks
// an event may recurse without a check of its own, and a hostile record can't
// exhaust a stack.
const MaxDepth = 64

// broken says why no object could be delimited.
type broken uint8

const (
	whole   broken = iota
	cut            // the input ends before the object does
	illegal        // 0xc1, the one lead byte msgpack never uses
)

func (b broken) String() string {
	switch b {
	case cut:
		return "truncated: the object is longer than what is left of the chunk"
	case illegal:
		return "byte 0xc1 begins no msgpack object"
	}
	return "whole"
}

// sized gives, for the lead bytes 0xc0 to 0xdf, how many bytes of length or
// count follow (field) and how many bytes after those belong to the object
// whatever the length says (fixed).
type sized struct{ field, fixed uint8 }

// leads is indexed by lead byte minus 0xc0.
var leads = [32]sized{
	{0, 0}, {0, 0}, {0, 0}, {0, 0}, // nil, 0xc1, false, true
	{1, 0}, {2, 0}, {4, 0}, // bin 8 16 32
	{1, 1}, {2, 1}, {4, 1}, // ext 8 16 32: the type byte
	{0, 4}, {0, 8}, // float 32 64
	{0, 1}, {0, 2}, {0, 4}, {0, 8}, // uint 8 16 32 64
	{0, 1}, {0, 2}, {0, 4}, {0, 8}, // int 8 16 32 64
	{0, 2}, {0, 3}, {0, 5}, {0, 9}, {0, 17}, // fixext 1 2 4 8 16
	{1, 0}, {2, 0}, {4, 0}, // str 8 16 32
	{2, 0}, {4, 0}, // array 16 32
	{2, 0}, {4, 0}, // map 16 32
}

// span delimits the object at b[i]: end is the index behind it, boxes how many
// arrays and maps it holds, itself included. It neither recurses nor
// allocates: one counter of objects still to come is all its state. A header
// that promises more than b holds costs no more than a walk to b's end; five
// bytes add at most 2^33 to the counter, so 4 GiB don't overflow it.
func span(b []byte, i int) (end, boxes int, why broken) {
	for need := 1; need > 0; need-- {
		if i >= len(b) {
			return i, boxes, cut
		}
		c := b[i]
		i++
		switch {
		case c&0xe0 == 0xa0: // first, since most of a record is short strings
			i += int(c & 0x1f)
		case c < 0x80 || c >= 0xe0:
		case c < 0x90:
			need += 2 * int(c&0x0f)
			boxes++
		case c < 0xa0:
			need += int(c & 0x0f)
			boxes++
		case c == 0xd9 && i < len(b):
			i += 1 + int(b[i])
		default:
			l := leads[c-0xc0]
			n, ok := count(b, i, l.field)
			if !ok {
				return i, boxes, cut
			}
			i += int(l.field)
			switch {
			case c < 0xdc:
				if c == 0xc1 {
					return i, boxes, illegal
				}
				i += int(l.fixed) + n
			case c < 0xde:
				need += n
				boxes++
			default:
				need += 2 * n
				boxes++
			}
		}
	}
	if i > len(b) {
		return i, boxes, cut
	}
	return i, boxes, whole
}

// count reads a big-endian length of width bytes, 0 of none.
func count(b []byte, i int, width uint8) (n int, ok bool) {
	if i+int(width) > len(b) {
		return 0, false
	}
	switch width {
	case 1:
		return int(b[i]), true
	case 2:
		return int(binary.BigEndian.Uint16(b[i:])), true
	case 4:
		return int(binary.BigEndian.Uint32(b[i:])), true
	}
	return 0, true
}

// nests reports whether the whole object b has arrays and maps more than limit
// deep. Objects with few boxes never come here.
func nests(b []byte, limit int) bool {
	var left [MaxDepth + 1]int // objects still to come, by depth
	depth := 0
	left[0] = 1
	for i := 0; i < len(b); {
		for depth > 0 && left[depth] == 0 {
			depth--
		}
		left[depth]--
		h, ok := readHead(b[i:])
		if !ok {
			return false
		}
		i += h.start
		children := h.size
		switch h.kind {
		case KindMap:
			children *= 2
		case KindArray:
		default:
			i += h.size
			continue
		}
		if depth+1 > limit {
			return true
		}
		depth++
		left[depth] = children
	}
	return false
}

// Span returns the number of bytes that the first object of b takes. ok is
// false if b holds no whole object or if that is nested deeper than MaxDepth.
func Span(b []byte) (n int, ok bool) {
	end, boxes, why := span(b, 0)
	if why != whole || boxes > MaxDepth && nests(b[:end], MaxDepth) {
		return 0, false
	}
	return end, true
}
