package json

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Eight bytes of a string are looked at in one word. Adding or subtracting
// moves a bit into a byte's highest only if the byte is in the searched range;
// a borrow can mark a further byte wrongly, but only above one that is marked
// rightly, so the lowest mark is always right.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain reports whether none of the eight bytes needs a closer look: no
// control character, quote or backslash, and nothing beyond ASCII.
func plain(w uint64) bool {
	return ((w-0x20*ones)|((w^'"'*ones)-ones)|((w^'\\'*ones)-ones)|w)&highs == 0
}

// escapes marks the highest bit of the bytes that JSON can't hold as they are.
func escapes(w uint64) uint64 {
	quote, back := w^'"'*ones, w^'\\'*ones
	return ((w-0x20*ones)&^w | (quote-ones)&^quote | (back-ones)&^back) & highs
}

// appendString appends s as a JSON string. Whatever is valid UTF-8 stays as it
// is, except for control characters, quotes and backslashes; each byte that is
// no part of valid UTF-8 becomes U+FFFD.
func appendString(dst, s []byte) []byte {
	from, n := len(dst), len(s)
	if cap(dst)-from < n+2 {
		dst = slices.Grow(dst, n+2)
	}
	dst = dst[:from+n+2]
	out := dst[from+1:]
	dst[from] = '"'
	if !copyPlain(out, s) {
		dst = appendEscaped(dst[:from+1], s)
		return append(dst, '"')
	}
	out[n] = '"'
	return dst
}

// copyPlain copies s to out, which is longer, and looks at it on the way. It
// gives up at the first byte that can't be copied as it is. A last word that
// overlaps the one before it saves the loop over single bytes.
func copyPlain(out, s []byte) bool {
	n := len(s)
	if n < 8 {
		return copyShort(out, s)
	}
	out = out[:n]
	for i := 0; i <= n-8; i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		if !plain(w) {
			return false
		}
		binary.LittleEndian.PutUint64(out[i:], w)
	}
	w := binary.LittleEndian.Uint64(s[n-8:])
	binary.LittleEndian.PutUint64(out[n-8:], w)
	return plain(w)
}

func copyShort(out, s []byte) bool {
	n := len(s)
	if n >= 4 {
		lo, hi := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[n-4:])
		binary.LittleEndian.PutUint32(out, lo)
		binary.LittleEndian.PutUint32(out[n-4:], hi)
		return plain(uint64(lo) | uint64(hi)<<32)
	}
	for i, c := range s {
		if c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
		out[i] = c
	}
	return true
}

// appendEscaped copies runs between bytes to escape. Such a byte is ASCII and
// never lies within a valid sequence, so each run is checked on its own.
func appendEscaped(dst, s []byte) []byte {
	for {
		n, ascii := run(s)
		switch {
		case ascii || valid(s[:n]):
			dst = append(dst, s[:n]...)
		default:
			dst = appendRepaired(dst, s[:n])
		}
		if n == len(s) {
			return dst
		}
		dst = appendEscape(dst, s[n])
		s = s[n+1:]
	}
}

// run returns how many bytes of s come before the first to escape.
func run(s []byte) (n int, ascii bool) {
	var seen uint64
	for ; n+8 <= len(s); n += 8 {
		w := binary.LittleEndian.Uint64(s[n:])
		if m := escapes(w); m != 0 {
			k := bits.TrailingZeros64(m) >> 3
			seen |= w & (1<<(8*k) - 1)
			return n + k, seen&highs == 0
		}
		seen |= w
	}
	for ; n < len(s); n++ {
		c := s[n]
		if c < 0x20 || c == '"' || c == '\\' {
			break
		}
		seen |= uint64(c)
	}
	return n, seen&highs == 0
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// valid is utf8.Valid with a short way for the three-byte sequences that
// Chinese, Japanese and Korean text consists of.
func valid(s []byte) bool {
	for len(s) >= 4 {
		if len(s) >= 8 && binary.LittleEndian.Uint64(s)&highs == 0 {
			s = s[8:]
			continue
		}
		w := binary.LittleEndian.Uint32(s)
		switch {
		case w&0x80 == 0:
			s = s[1:]
		case w&0xc0c0f0 == 0x8080e0 && w&0x200f != 0 && w&0x200f != 0x200d:
			// Lead e0 needs a second byte from a0 on (no overlong form), ed one
			// below (no surrogate): both hang on bit 5 of the second byte.
			s = s[3:]
		default:
			r, n := utf8.DecodeRune(s)
			if r == utf8.RuneError && n == 1 {
				return false
			}
			s = s[n:]
		}
	}
	return utf8.Valid(s)
}

func appendRepaired(dst, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}
