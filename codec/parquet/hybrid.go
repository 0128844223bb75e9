package parquet

import "encoding/binary"

// hybrid encodes small integers in runs: a value and how often it comes, or
// groups of eight values with the same number of bits each
// (https://github.com/apache/parquet-format/blob/master/Encodings.md, "Run
// Length Encoding / Bit-Packing Hybrid"). It keeps only what is encoded and the
// last group, so that the levels of a page cost next to nothing.
type hybrid struct {
	buf   []byte
	width int // bits per value

	value uint32 // the last
	times int    // how often it came in a row
	group [8]uint32
	n     int // values in the group

	packed int // where the header of the open bit-packed run is in buf, -1 if none is open
	groups int // in that run
}

// mostGroups keeps the header of a bit-packed run in one byte.
const mostGroups = 63

func (h *hybrid) reset(width int) {
	*h = hybrid{buf: h.buf[:0], width: width, packed: -1}
}

func (h *hybrid) put(v uint32) {
	if v == h.value && h.times > 0 {
		if h.times++; h.times >= 8 {
			return
		}
	} else {
		if h.times >= 8 {
			h.endRepeated()
		}
		h.value, h.times = v, 1
	}
	h.group[h.n] = v
	if h.n++; h.n == 8 {
		h.pack()
	}
}

// repeat is put, n times.
func (h *hybrid) repeat(v uint32, n int) {
	for ; n > 0; n-- {
		if h.put(v); h.times >= 8 {
			h.times += n - 1
			return
		}
	}
}

// endRepeated writes the run of the value. The group holds nothing but it.
func (h *hybrid) endRepeated() {
	h.endPacked()
	h.buf = binary.AppendUvarint(h.buf, uint64(h.times)<<1)
	for bits := 0; bits < h.width; bits += 8 {
		h.buf = append(h.buf, byte(h.value>>bits))
	}
	h.times, h.n = 0, 0
}

// pack writes the group.
func (h *hybrid) pack() {
	if h.groups == mostGroups {
		h.endPacked()
	}
	if h.packed < 0 {
		h.packed = len(h.buf)
		h.buf = append(h.buf, 0)
	}
	var acc uint64
	bits := 0
	for _, v := range h.group {
		acc |= uint64(v) << bits
		for bits += h.width; bits >= 8; bits -= 8 {
			h.buf = append(h.buf, byte(acc))
			acc >>= 8
		}
	}
	h.groups++
	h.n, h.times = 0, 0
}

func (h *hybrid) endPacked() {
	if h.packed >= 0 {
		h.buf[h.packed] = byte(h.groups<<1 | 1)
		h.packed, h.groups = -1, 0
	}
}

// finish returns all that was put. The last group is filled up with zeros,
// which readers ignore: they know how many values there are.
func (h *hybrid) finish() []byte {
	switch {
	case h.times >= 8:
		h.endRepeated()
	case h.n > 0:
		for h.n < 8 {
			h.group[h.n] = 0
			h.n++
		}
		h.pack()
	}
	h.endPacked()
	return h.buf
}
