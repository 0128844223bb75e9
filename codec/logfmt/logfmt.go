// Package logfmt writes each record as a line of key=value fields with a blank
// between them, as go-logfmt and Loki read them.
//
// What a line holds is labeled's. A value is
//
//	null, missing        no field
//	string               its text; each invalid byte is U+FFFD
//	bool, numbers        as in JSON, exact; NaN, Infinity and -Infinity
//	bin                  its text if it is valid UTF-8
//	other bin, ext       event.BinMark and base64 with padding
//	array, map           JSON
//
// A value that is empty or has a blank, a control character, an equals sign, a
// double quote or U+FFFD is quoted as a string of JSON, so that any text is read
// back as it was. A key can't be quoted: what may not stand in one (a blank or
// less, an equals sign, a double quote, DEL, an invalid byte) is an underscore,
// and so is an empty key. Two keys may become the same one that way.
package logfmt

import (
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/labeled"
)

// New returns the format.
func New(o labeled.Options) codec.BlockFormat {
	return labeled.New(o, labeled.Style{AppendLabel: appendKey, Finish: quote, Separator: ' '}, ".logfmt")
}

// appendKey appends a key and its equals sign.
func appendKey(dst, key []byte) []byte {
	if len(key) == 0 {
		return append(dst, "_="...)
	}
	start := len(dst)
	dst = event.AppendValidUTF8(dst, key)
	to := start
	for from := start; from < len(dst); {
		r, n := utf8.DecodeRune(dst[from:])
		if r <= ' ' || r == '=' || r == '"' || r == 0x7f || r == utf8.RuneError {
			dst[to] = '_'
			to++
		} else {
			to += copy(dst[to:], dst[from:from+n])
		}
		from += n
	}
	return append(dst[:to], '=')
}

// quote quotes what dst ends with, from value on, where a reader wants that.
// Bytes move to their places from the end on.
func quote(dst []byte, value int) []byte {
	extra, must := 2, len(dst) == value
	for i, c := range dst[value:] {
		switch {
		case c == '"':
			must, extra = true, extra+1
		case c == '\\':
			extra++ // if it is quoted for another reason: by itself it may stand
		case c < ' ':
			must, extra = true, extra+len(escaped(c))-1
		case c == ' ', c == '=', c == 0x7f:
			must = true
		case c == 0xef && len(dst)-value-i >= 3 && dst[value+i+1] == 0xbf && dst[value+i+2] == 0xbd: // U+FFFD
			must = true
		}
	}
	if !must {
		return dst
	}
	from := len(dst) - 1
	for range extra {
		dst = append(dst, 0)
	}
	to := len(dst) - 1
	dst[to] = '"'
	for to--; from >= value; from-- {
		c := dst[from]
		if c != '"' && c != '\\' && c >= ' ' {
			dst[to] = c
			to--
			continue
		}
		e := escaped(c)
		to -= len(e)
		copy(dst[to+1:], e)
	}
	dst[to] = '"'
	return dst
}

// escapes are those of JSON (RFC 8259, section 7), by character.
var escapes = func() (all [' ']string) {
	const hex = "0123456789abcdef"
	for c := range all {
		all[c] = `\u00` + string(hex[c>>4]) + string(hex[c&15])
	}
	all['\n'], all['\r'], all['\t'], all['\b'], all['\f'] = `\n`, `\r`, `\t`, `\b`, `\f`
	return all
}()

func escaped(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	}
	return escapes[c]
}
