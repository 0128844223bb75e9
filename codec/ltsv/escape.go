package ltsv

import (
	"bytes"
	"encoding/binary"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// appendLabel appends the label of a key and its colon.
func appendLabel(dst, key []byte) []byte {
	if len(key) == 0 {
		return append(dst, '_', ':')
	}
	start := len(dst)
	dst = escape(event.AppendValidUTF8(dst, key), start)
	if bytes.IndexByte(dst[start:], ':') >= 0 {
		label := append([]byte(nil), dst[start:]...)
		dst = dst[:start]
		for _, c := range label {
			if c == ':' {
				dst = append(dst, "%3A"...)
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, ':')
}

// escape replaces what would end a field in what dst ends with, from start on.
// Bytes move to their places from the end on.
func escape(dst []byte, start int) []byte {
	if !control(dst[start:]) {
		return dst
	}
	special := 0
	for _, c := range dst[start:] {
		if c == '\t' || c == '\n' || c == '\r' {
			special++
		}
	}
	if special == 0 {
		return dst
	}
	from := len(dst) - 1
	for range special {
		dst = append(dst, 0)
	}
	for to := len(dst) - 1; to > from; from, to = from-1, to-1 {
		switch c := dst[from]; c {
		case '\t':
			dst[to] = 't'
		case '\n':
			dst[to] = 'n'
		case '\r':
			dst[to] = 'r'
		default:
			dst[to] = c
			continue
		}
		to--
		dst[to] = '\\'
	}
	return dst
}

// control reports whether s has a byte below 0x20. Eight bytes are looked at in
// one word: subtracting 0x20 from each borrows a highest bit that wasn't there
// only from a byte below 0x20, or from one above such a byte.
func control(s []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		if w := binary.LittleEndian.Uint64(s); (w-0x20*ones)&^w&highs != 0 {
			return true
		}
	}
	for _, c := range s {
		if c < 0x20 {
			return true
		}
	}
	return false
}
