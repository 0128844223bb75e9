package timepattern

import (
	"errors"
	"strings"
	"testing"
)

func TestRefusedPatterns(t *testing.T) {
	for _, tc := range []struct {
		name, pattern string
		offset        int
	}{
		{"java week year", "YYYY-MM-dd", 0},
		{"java week", "yyyy-ww", 5},
		{"java week of month", "W", 0},
		{"java local weekday", "yyyy e", 5},
		{"java standalone weekday", "ccc", 0},
		{"java day period", "HH B", 3},
		{"java aligned week", "F", 0},
		{"java zone name", "HH z", 3},
		{"java generic zone name", "v", 0},
		{"java padding", "ppH", 0},
		{"java unknown letter", "yyyyTHH", 4},
		{"java one V", "V", 0},
		{"java three V", "VVV", 0},
		{"java too many M", "MMMMMM", 0},
		{"java too many H", "HHH", 0},
		{"java too many D", "DDDD", 0},
		{"java too many a", "aa", 0},
		{"java too many S", "SSSSSSSSSS", 0},
		{"java too many y", strings.Repeat("y", 20), 0},
		{"java too many X", "XXXXXX", 0},
		{"java two O", "OO", 0},
		{"java open quote", "yyyy'T", 4},
		{"java lone quote", "'", 0},
		{"java bracket closed first", "yyyy]", 4},
		{"java brace", "{yyyy}", 0},
		{"java hash", "yyyy#", 4},
		{"strftime unknown conversion", "%Y-%Q", 3},
		{"strftime dangling percent", "%Y%", 2},
		{"strftime dangling flag", "%Y%-", 2},
		{"strftime dangling width", "%10", 0},
		{"strftime flag on a composite", "%-F", 0},
		{"strftime width on a name", "%9a", 0},
		{"strftime padding of a name", "%_B", 0},
		{"strftime upper case of a number", "%^d", 0},
		{"strftime E on the day", "%Ed", 0},
		{"strftime O on the year", "%OY", 0},
		{"strftime two modifiers", "%EOy", 0},
		{"strftime flag after width", "%5-d", 0},
		{"strftime too wide", "%20d", 0},
		{"strftime wide beyond counting", "%99999999999999999999999d", 0},
		{"strftime fraction too fine", "%10N", 0},
		{"strftime percent before text", "100%é", 3},
		{"invalid UTF-8", "yyyy\xff", 0},
		{"too long", strings.Repeat("-", MaxPattern+1), MaxPattern},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse(tc.pattern)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error is %v, want a SyntaxError", err)
			}
			if syntax.Offset != tc.offset || syntax.Reason == "" {
				t.Errorf("refused at %d: %q, want %d", syntax.Offset, syntax.Reason, tc.offset)
			}
		})
	}
}

func TestPercentDecidesTheLanguage(t *testing.T) {
	for _, tc := range []struct{ name, pattern, want string }{
		{"java", "yyyy", "1970"},
		{"strftime", "yyyy-%Y", "yyyy-1970"},
		{"java with milliseconds", "SSS", "012"},
		{"strftime with milliseconds", "%L", "012"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Parse(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(p.Append(nil, epochWithMillis())); got != tc.want || p.String() != tc.pattern {
				t.Errorf("%q is %q, want %q", p, got, tc.want)
			}
		})
	}
}
