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
	if n == 0 {
		return true
	}
	first, middle, last := s[0], s[n>>1], s[n-1]
	out[0], out[n>>1], out[n-1] = first, middle, last
	return plain(0x2020202020<<24 | uint64(first) | uint64(middle)<<8 | uint64(last)<<16)
}

// appendKey appends a comma, s as a JSON string and a colon, and returns the
// key's hash; equal keys have equal hashes.
func appendKey(dst, s []byte) (_ []byte, hash uint32) {
	from, n := len(dst), len(s)
	if cap(dst)-from < n+4 {
		dst = slices.Grow(dst, n+4)
	}
	dst = dst[:from+n+4]
	out := dst[from+2:]
	dst[from], dst[from+1] = ',', '"'
	if !copyPlain(out, s) {
		dst = appendEscaped(dst[:from+2], s)
		return append(dst, '"', ':'), quickHash(dst[from+2:])
	}
	out[n], out[n+1] = '"', ':'
	// What was just copied is read from s: reading it back from dst would wait
	// for the stores.
	return dst, quickHash(s)
}

// quickHash mixes the length of a key's text, without the quotes, with its
// first and last eight bytes.
func quickHash(key []byte) uint32 {
	var x uint64
	switch n := len(key); {
	case n >= 8:
		x = binary.LittleEndian.Uint64(key) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(key[n-8:]), 23)
	case n >= 4:
		x = uint64(binary.LittleEndian.Uint32(key)) | uint64(binary.LittleEndian.Uint32(key[n-4:]))<<32
	case n > 0:
		x = uint64(key[0]) | uint64(key[n>>1])<<8 | uint64(key[n-1])<<16
	}
	x = (x ^ uint64(len(key))) * 0x9e3779b97f4a7c15
	return uint32(x>>32) ^ uint32(x)>>7
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
// Chinese, Japanese and Korean text consists of, and one for two bytes.
func valid(s []byte) bool {
	i := 0
	for i+8 <= len(s) {
		w := binary.LittleEndian.Uint64(s[i:])
		switch {
		case w&highs == 0:
			i += 8
		case w&0xc0c0f0c0c0f0 == 0x8080e08080e0 && (anyTail>>(w&15))&(anyTail>>(w>>24&15))&1 != 0:
			i += 6
		case w&0xc0c0f0 == 0x8080e0 && anyTail>>(w&15)&1 != 0:
			i += 3
		case w&0x80 == 0:
			i++
		case w&0xc0e0 == 0x80c0 && w&0x1e != 0: // c0 and c1 are overlong
			i += 2
		default:
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				return false
			}
			i += n
		}
	}
	return utf8.Valid(s[i:])
}

// anyTail has a bit for each low half of a lead byte e0 to ef after which any
// two continuation bytes may follow: not e0 (overlong) nor ed (surrogates).
const anyTail = 0xdffe

func appendRepaired(dst, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}
