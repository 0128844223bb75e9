package event

import "strings"

// Lookup returns the raw msgpack value that a record accessor names in the
// event's record; it aliases the chunk. ok is false if the record has no such
// value, and for an accessor of the tag.
//
// Of a key that comes twice the last counts, as in Fluent Bit's own lookup and
// its JSON. A key of type bin matches like a string. Unlike Fluent Bit, which
// answers with the value itself, a path that descends into a scalar finds
// nothing. It allocates nothing.
func (a *Accessor) Lookup(e *Event) (raw []byte, ok bool) { return a.LookupIn(e.Body) }

// LookupIn is Lookup in any raw msgpack map: an event's metadata, its group's
// body.
func (a *Accessor) LookupIn(m []byte) (raw []byte, ok bool) {
	if a.tag {
		return nil, false
	}
	for i := range a.steps {
		if s := &a.steps[i]; s.index < 0 {
			m, ok = valueOf(m, s.key)
		} else {
			m, ok = elementOf(m, s.index)
		}
		if !ok {
			return nil, false
		}
	}
	return m, true
}

// Tag returns what an accessor of the tag names: the tag, or its n-th part. A
// tag without dots is its own part 0. ok is false if the tag has too few parts,
// and for an accessor of the record.
func (a *Accessor) Tag(tag string) (s string, ok bool) {
	if !a.tag {
		return "", false
	}
	if a.tagPart < 0 {
		return tag, true
	}
	for n := 0; ; n++ {
		part, rest, more := strings.Cut(tag, ".")
		if n == a.tagPart {
			return part, true
		}
		if !more {
			return "", false
		}
		tag = rest
	}
}

// AppendText appends what the accessor names as text (see AppendScalar) and
// says what kind it was; the tag is a string. If it names nothing, or an array
// or map, dst comes back as it was.
func (a *Accessor) AppendText(dst []byte, e *Event, tag string) ([]byte, Kind) {
	if a.tag {
		s, ok := a.Tag(tag)
		if !ok {
			return dst, KindInvalid
		}
		return append(dst, s...), KindString
	}
	raw, ok := a.LookupIn(e.Body)
	if !ok {
		return dst, KindInvalid
	}
	return AppendScalar(dst, raw)
}

// valueOf returns the value of the last pair of the map m whose key is key.
func valueOf(m []byte, key string) (raw []byte, ok bool) {
	h, isMap := readHead(m)
	if !isMap || h.kind != KindMap {
		return nil, false
	}
	i := h.start
	for n := h.size; n > 0; n-- {
		k, text, value := nextKey(m, i)
		if value < 0 {
			return nil, false
		}
		end, _, why := span(m, value)
		if why != whole {
			return nil, false
		}
		if text && string(k) == key {
			raw, ok = m[value:end:end], true
		}
		i = end
	}
	return raw, ok
}

// nextKey reads the key at m[i]: its text if it is a string or bin, and the
// index behind it, -1 if it is cut short.
func nextKey(m []byte, i int) (key []byte, text bool, next int) {
	if i < len(m) && m[i]&0xe0 == 0xa0 {
		next = i + 1 + int(m[i]&0x1f)
		if next > len(m) {
			return nil, false, -1
		}
		return m[i+1 : next], true, next
	}
	next, _, why := span(m, i)
	if why != whole {
		return nil, false, -1
	}
	key, text = Text(m[i:next])
	return key, text, next
}

func elementOf(list []byte, index int) (raw []byte, ok bool) {
	h, isArray := readHead(list)
	if !isArray || h.kind != KindArray || index >= h.size {
		return nil, false
	}
	i := h.start
	for ; index > 0; index-- {
		end, _, why := span(list, i)
		if why != whole {
			return nil, false
		}
		i = end
	}
	end, _, why := span(list, i)
	if why != whole {
		return nil, false
	}
	return list[i:end:end], true
}
