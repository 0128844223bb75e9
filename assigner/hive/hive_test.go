package hive

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendEscaped(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"plain", "web-1_a.b", "web-1_a.b"},
		{"empty is null", "", "__HIVE_DEFAULT_PARTITION__"},
		{"slash", "a/b", "a%2Fb"},
		{"parent", "..", ".."},
		{"way out", "../../x", "..%2F..%2Fx"},
		{"all of Hive's list", `"#%'*/:=?\{[]^` + "\x7f", "%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E%7F"},
		{"what Hive leaves alone", "}$&~`!@()+,;<>| -._", "}$&~`!@()+,;<>| -._"},
		{"controls", "\x00\t\n\x1f", "%00%09%0A%1F"},
		{"an escape that was a value", "%2F", "%252F"},
		{"umlauts", "Köln", "Köln"},
		{"Chinese", "上海", "上海"},
		{"beyond the BMP", "😀", "😀"},
		{"a replacement character", "\ufffd", "\ufffd"},
		{"a byte that isn't UTF-8", "a\xffb", "a%FFb"},
		{"a cut character", "a\xe4\xb8", "a%E4%B8"},
		{"a surrogate", "\xed\xa0\x80", "%ED%A0%80"},
		{"an overlong slash", "\xc0\xaf", "%C0%AF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(AppendEscaped([]byte("k="), []byte(tc.value))); got != "k="+tc.want {
				t.Errorf("got %q, want %q", got, "k="+tc.want)
			}
		})
	}
}

// unescape is how Hive reads a name, on bytes.
func unescape(s string) []byte {
	if s == DefaultPartition {
		return nil
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return out
}

func FuzzAppendEscaped(f *testing.F) {
	for _, seed := range []string{"", "a/b", "%2F", "\xff\x00", "上海", DefaultPartition + "x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got := string(AppendEscaped(nil, value))
		if string(value) != DefaultPartition && !bytes.Equal(unescape(got), value) {
			t.Errorf("%q escaped is %q, which reads as %q", value, got, unescape(got))
		}
		if !utf8.ValidString(got) || got == "" || strings.ContainsAny(got, "/:\x00\n") || len(got) > 3*len(value)+len(DefaultPartition) {
			t.Errorf("%q escaped is %q", value, got)
		}
	})
}
