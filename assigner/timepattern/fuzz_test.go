package timepattern

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzPattern: any text compiles or is refused with its place; what compiles
// formats any instant without panicking, within bounds and the same all over
// its span; what CheckPath lets through is a visible path below the base.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{
		"G A kk", "%EY %c", "yyyy-MM-dd--HH", "yyyy/MM/dd/HH", "'it''s' [u]", "VV O XXXXX", "n D SSS E QQQQ a hh",
		"%Y-%m-%d/%H", "%T %D %Z %z", "%-d %_H %010s %^a %3N %L", "%", "'", "_", "../", "100%% %é",
	} {
		f.Add(seed, int64(1774746000), uint32(123456789), uint8(1))
	}
	f.Add("yyyy", int64(-1<<62), uint32(0), uint8(0))
	f.Add("yy %y", int64(1<<62), uint32(0), uint8(2))
	zones := []*time.Location{zone(f, "UTC"), zone(f, "Europe/Berlin"), zone(f, "Asia/Kolkata"), zone(f, "Pacific/Apia")}
	f.Fuzz(func(t *testing.T, pattern string, sec int64, nsec uint32, z uint8) {
		p, err := Parse(pattern)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(pattern) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		at := time.Unix(sec, int64(nsec%1e9)).In(zones[int(z)%len(zones)])
		if got := p.Append(nil, at); len(got) > 32*MaxPattern {
			t.Fatalf("%d bytes", len(got))
		}
		if sec < 0 || sec > 253402300799-86400 {
			return
		}
		checkSpan(t, p, at)
		if p.CheckPath(at.Location()) == nil {
			checkVisible(t, string(p.Append(nil, at)))
		}
	})
}

func checkVisible(t *testing.T, path string) {
	t.Helper()
	if !utf8.ValidString(path) {
		t.Fatalf("%q isn't valid UTF-8", path)
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment[0] == '.' || segment[0] == '_' || len(segment) > MaxSegment {
			t.Fatalf("%q has the segment %q", path, segment)
		}
	}
	if i := strings.IndexFunc(path, func(r rune) bool { return r < 0x20 || r == 0x7f || r == ':' }); i >= 0 {
		t.Fatalf("%q has the character %q", path, path[i])
	}
}
