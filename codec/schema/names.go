package schema

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// avroName makes key a name as Avro's specification has it: [A-Za-z_] followed
// by [A-Za-z0-9_]. What isn't allowed becomes an underscore.
func avroName(key string) string {
	var b strings.Builder
	for i, c := range key {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			b.WriteRune(c)
		case c >= '0' && c <= '9':
			if i == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// columnName makes key a name that Parquet's readers take: any letters, but
// nothing that Spark refuses (space ,;{}()=, tab, newline), that Hive refuses
// (dot, colon, backtick), that quotes names, or that can't be seen.
func columnName(key string) string {
	clean := strings.Map(func(c rune) rune {
		switch {
		case c == utf8.RuneError || unicode.IsControl(c) || unicode.IsSpace(c) || !unicode.IsPrint(c):
			return '_'
		case strings.ContainsRune(",;{}()=.:`\"'\\", c):
			return '_'
		}
		return c
	}, key)
	if clean == "" {
		return "_"
	}
	return clean
}

// names keeps the names of one record apart, as a reader does that ignores
// case: Hive, and Spark by default.
type names map[string]struct{}

func (n names) has(name string) bool {
	_, taken := n[strings.ToLower(name)]
	return taken
}

func (n names) take(name string) { n[strings.ToLower(name)] = struct{}{} }

// unique takes the name, or the first of name_1, name_2 and so on that is free.
func (n names) unique(name string) string {
	free := name
	for i := 1; n.has(free); i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	n.take(free)
	return free
}
