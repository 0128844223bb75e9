// Package hive writes partition values the way Hive does, so that Hive, Spark,
// Trino and Presto read the folders name=value as partitions.
//
// An escaped value is never empty, never has a slash, a colon or a control
// character, is valid UTF-8, and stands for exactly one value: unescaping gives
// the bytes back.
package hive

import "unicode/utf8"

// DefaultPartition is what Hive writes for a value that is null or empty
// (hive.exec.default.partition.name).
const DefaultPartition = "__HIVE_DEFAULT_PARTITION__"

// AppendEscaped appends the value as Hive's FileUtils.escapePathName does: each
// control character and each of "#%'*/:=?\{[]^ becomes a percent sign and two
// upper-case hexadecimal digits, and an empty value becomes DefaultPartition.
// Bytes that aren't UTF-8, which Hive's strings can't hold, are escaped too.
func AppendEscaped(dst, value []byte) []byte {
	if len(value) == 0 {
		return append(dst, DefaultPartition...)
	}
	for i := 0; i < len(value); {
		c := value[i]
		switch {
		case c < utf8.RuneSelf && !escaped(c):
			dst = append(dst, c)
			i++
		case c < utf8.RuneSelf:
			dst = appendHex(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(value[i:])
			if r == utf8.RuneError && n == 1 {
				dst = appendHex(dst, c)
			} else {
				dst = append(dst, value[i:i+n]...)
			}
			i += n
		}
	}
	return dst
}

// escaped is the list of Hive's FileUtils.charToEscape. It has neither the
// closing brace nor anything beyond ASCII.
func escaped(c byte) bool {
	switch c {
	case '"', '#', '%', '\'', '*', '/', ':', '=', '?', '\\', 0x7f, '{', '[', ']', '^':
		return true
	}
	return c < ' '
}

func appendHex(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}
