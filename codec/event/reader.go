package event

import "math"

// Reader yields what a chunk holds, in its order. The zero Reader has nothing
// to yield until Reset. One goroutine uses it at a time.
//
// For each chunk: the Raw bytes of all events, the group markers, the Rest and
// an all-zero tail cover the chunk once, without a gap. The same bytes always
// give the same ordinals.
type Reader struct {
	chunk   []byte
	pos     int
	ordinal uint32
	group   *Group
	lastNZ  int // index of the last byte that isn't zero; unknown is -2
	rest    Rest
	hasRest bool
}

// Rest is what remains of a chunk when no further object can be delimited. It
// counts as one record with the next ordinal.
type Rest struct {
	Ordinal uint32
	Offset  uint32
	Raw     []byte // aliases the chunk
	Reason  string
}

const unknown = -2

// Reset begins a new chunk, which the caller must leave unchanged while it
// uses the events. It forgets everything of the chunk before.
func (r *Reader) Reset(chunk []byte) {
	*r = Reader{chunk: chunk, lastNZ: unknown}
	if uint64(len(chunk)) > math.MaxUint32 {
		r.stop("the chunk is longer than 4 GiB")
	}
}

// Next reads the next event, or the next object that is none, into e, all of
// whose fields it sets. Group markers are consumed: they take an ordinal, and
// the events up to the footer share the header's Group. It is false at the
// end; Rest then tells whether that is the end of the chunk.
//
// It allocates only the Group of a group header.
func (r *Reader) Next(e *Event) bool {
	for r.pos < len(r.chunk) {
		if r.chunk[r.pos] == 0 && r.zeroFrom(r.pos) {
			r.pos = len(r.chunk)
			break
		}
		start := r.pos
		*e = Event{Ordinal: r.ordinal, Offset: uint32(start), Group: r.group}
		m, why := r.read(e)
		if why != whole {
			r.stop(why.String())
			break
		}
		e.Raw = r.chunk[start:r.pos:r.pos]
		r.ordinal++
		switch m {
		case groupHeader:
			r.group = &Group{Meta: e.Meta, Body: e.Body}
		case groupFooter:
			r.group = nil
		default:
			return true
		}
	}
	*e = Event{}
	return false
}

// Rest returns the bytes from which Next could read no further object, once it
// has returned false. ok is false if it came to the chunk's end, or to a tail
// of nothing but zero bytes, which Fluent Bit takes for the end too: a chunk
// file is allocated ahead.
func (r *Reader) Rest() (rest Rest, ok bool) { return r.rest, r.hasRest }

func (r *Reader) stop(reason string) {
	r.rest = Rest{Ordinal: r.ordinal, Offset: uint32(r.pos), Raw: r.chunk[r.pos:], Reason: reason}
	r.hasRest = true
	r.pos = len(r.chunk)
}

// zeroFrom reports whether only zero bytes follow from i on. The chunk is
// searched once, from its end, so zeros in the middle cost no second search.
func (r *Reader) zeroFrom(i int) bool {
	if r.lastNZ == unknown {
		r.lastNZ = len(r.chunk) - 1
		for r.lastNZ >= i && r.chunk[r.lastNZ] == 0 {
			r.lastNZ--
		}
	}
	return r.lastNZ < i
}

// read decodes the object at r.pos and moves behind it. Its shapes are
// [[time, metadata], body] and the older [time, body].
func (r *Reader) read(e *Event) (marker, broken) {
	b := r.chunk
	p, ok := pair(b, r.pos)
	if !ok {
		return r.malformed(e, "no array of two elements")
	}
	timeAt, nested := pair(b, p)
	if !nested {
		timeAt = p
		if KindOf(b[p:]) == KindArray {
			return r.malformed(e, "the header isn't [time, metadata]")
		}
	}
	t, p, m, reason := readTime(b, timeAt)
	if reason != "" {
		return r.malformed(e, reason)
	}
	var meta []byte
	deep := false
	if nested {
		end, boxes, why := span(b, p)
		switch {
		case why != whole:
			return noMarker, why
		case KindOf(b[p:]) == KindMap:
			meta = b[p:end:end]
			deep = boxes+2 > MaxDepth && nests(meta, MaxDepth-2)
		case b[p] != 0xc0:
			return r.malformed(e, "the metadata is no map")
		}
		p = end
	}
	end, boxes, why := span(b, p)
	if why != whole {
		return noMarker, why
	}
	body := b[p:end:end]
	if KindOf(body) != KindMap {
		return r.malformed(e, "the record is no map")
	}
	if deep || boxes+1 > MaxDepth && nests(body, MaxDepth-1) {
		return r.malformed(e, tooDeep)
	}
	e.Time, e.Meta, e.Body = t, meta, body
	r.pos = end
	return m, whole
}

const tooDeep = "arrays and maps lie more than 64 deep in one another"

func (r *Reader) malformed(e *Event, reason string) (marker, broken) {
	end, _, why := span(r.chunk, r.pos)
	if why != whole {
		return noMarker, why
	}
	e.Malformed = reason
	r.pos = end
	return noMarker, whole
}

// pair returns the index of the first element of the array of two at b[i].
func pair(b []byte, i int) (first int, ok bool) {
	if i >= len(b) {
		return i, false
	}
	if b[i] == 0x92 {
		return i + 1, i+1 < len(b)
	}
	h, ok := readHead(b[i:])
	return i + h.start, ok && h.kind == KindArray && h.size == 2 && i+h.start < len(b)
}
