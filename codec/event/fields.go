package event

// Fields walks the pairs of a msgpack map in their order.
//
//	for f := event.FieldsOf(e.Body); f.Next(); {
//		use(f.Key, f.Value)
//	}
//
// A key that comes twice is yielded twice; the last one counts.
type Fields struct {
	Key   []byte // raw msgpack, aliasing the map
	Value []byte // raw msgpack, aliasing the map

	rest []byte
	left int
}

// FieldsOf begins a walk of the map at the beginning of raw. Anything but a
// map has no fields.
func FieldsOf(raw []byte) Fields {
	h, ok := readHead(raw)
	if !ok || h.kind != KindMap {
		return Fields{}
	}
	return Fields{rest: raw[h.start:], left: h.size}
}

// Left is how many pairs are still to come as far as the map's header says.
func (f *Fields) Left() int { return f.left }

// Next advances to the next pair. It is false at the end, and where the map is
// cut short.
func (f *Fields) Next() bool {
	if f.left == 0 {
		return false
	}
	k, _, why := span(f.rest, 0)
	if why != whole {
		f.left = 0
		return false
	}
	v, _, why := span(f.rest, k)
	if why != whole {
		f.left = 0
		return false
	}
	f.Key, f.Value, f.rest = f.rest[:k:k], f.rest[k:v:v], f.rest[v:]
	f.left--
	return true
}

// Elements walks the elements of a msgpack array in their order.
type Elements struct {
	Value []byte // raw msgpack, aliasing the array

	rest []byte
	left int
}

// ElementsOf begins a walk of the array at the beginning of raw. Anything but
// an array has no elements.
func ElementsOf(raw []byte) Elements {
	h, ok := readHead(raw)
	if !ok || h.kind != KindArray {
		return Elements{}
	}
	return Elements{rest: raw[h.start:], left: h.size}
}

// Left is how many elements are still to come as far as the array's header says.
func (l *Elements) Left() int { return l.left }

// Next advances to the next element. It is false at the end, and where the
// array is cut short.
func (l *Elements) Next() bool {
	if l.left == 0 {
		return false
	}
	n, _, why := span(l.rest, 0)
	if why != whole {
		l.left = 0
		return false
	}
	l.Value, l.rest = l.rest[:n:n], l.rest[n:]
	l.left--
	return true
}
