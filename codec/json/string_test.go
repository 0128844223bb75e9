package json

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// valid agrees with utf8.Valid on each sequence of three bytes, at each place
// of a word.
func TestValidAgreesOnShortSequences(t *testing.T) {
	firsts := []byte{'a', 0x7f, 0x80, 0xbf}
	for c := 0xc0; c <= 0xff; c++ {
		firsts = append(firsts, byte(c))
	}
	others := []byte{'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe1, 0xff}
	for _, a := range firsts {
		for _, b := range others {
			for _, c := range others {
				for _, d := range others {
					for place := range 9 {
						s := []byte("中文12中文123456")[:place+11]
						copy(s[place:], []byte{a, b, c, d})
						if valid(s) != utf8.Valid(s) {
							t.Fatalf("% x: %v", s, valid(s))
						}
					}
				}
			}
		}
	}
}

func TestValidAgreesOnAnyText(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "12345678", "é", "中", "，", "\u0800", "\ud7ff", "\uffff", "🙂", "\U0010ffff", "\x80", "\xc1\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe4\xb8", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		var s []byte
		for _, p := range rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces") {
			s = append(s, p...)
		}
		if valid(s) != utf8.Valid(s) {
			t.Fatalf("% x: %v", s, valid(s))
		}
	})
}
