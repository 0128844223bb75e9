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
		{"java unknown letter", "yyyyTHH", 4},
		{"java refused letter inside", "yyyy-ww", 5},
		{"strftime refused conversion inside", "%Y %c", 3},
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

const (
	localWeeks   = "its weeks depend on the locale; use y for the calendar year, or strftime's %G, %V and %u for ISO 8601 weeks"
	oddHours     = "it counts hours from 1 to 24 or from 0 to 11; use HH, or hh with a"
	ofDay        = "it counts from midnight; use HHmmss, with SSS for milliseconds or SSSSSSSSS for nanoseconds"
	localZone    = "zone names are text of a locale; use VV for the zone's id or xx for its offset"
	localForm    = "its form is the locale's; use %F for the date and %H-%M-%S for the time"
	noBreaks     = "no folder has a line feed or tab in its name; leave it out"
	modifier     = "the modifiers E and O change nothing in the C locale; leave them out"
	noLetter     = "no such letter; quote text, as in 'T'"
	noConversion = "no such conversion; write %% for a percent sign"
)

// refusedJava is why each letter that isn't taken is refused.
func refusedJava() map[string]string {
	refused := map[string]string{
		"Y": localWeeks, "w": localWeeks, "W": localWeeks, "e": localWeeks, "c": localWeeks,
		"B": "day periods are text of a locale; use a",
		"F": "its meaning changed with Java 19; use strftime's %V for a week",
		"z": localZone, "v": localZone,
		"p": "it pads with blanks; repeat the letter to pad with zeros, as in HH",
		"G": "all events are of one era; leave it out",
		"g": "it counts days since 1858-11-17; use D for the day of the year",
		"k": oddHours, "K": oddHours, "A": ofDay, "N": ofDay,
	}
	for _, c := range "bCfiIjJloPrRtTU" {
		refused[string(c)] = noLetter
	}
	return refused
}

// refusedStrftime is why each conversion that isn't taken is refused.
func refusedStrftime() map[string]string {
	refused := map[string]string{"c": localForm, "r": localForm, "x": localForm, "X": localForm, "n": noBreaks, "t": noBreaks}
	for _, c := range "EfiJKoOqQv" {
		refused[string(c)] = noConversion
	}
	return refused
}

// TestRefusedLetters goes through the alphabet: a letter is either taken or
// refused with its own words, alone and repeated.
func TestRefusedLetters(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for _, language := range []struct {
		name, prefix string
		taken        string
		refused      map[string]string
	}{
		{"java", "", "uyQqMLDdEahHmsSnVZXxO", refusedJava()},
		{"strftime", "%", "aAbBCdDeFgGhHIjklLmMNpPRsSTuUVwWyYzZ", refusedStrftime()},
	} {
		for _, c := range alphabet {
			t.Run(language.name+" "+string(c), func(t *testing.T) {
				pattern := language.prefix + string(c)
				if pattern == "V" {
					pattern = "VV" // the zone's id takes two
				}
				_, err := Parse(pattern)
				if strings.ContainsRune(language.taken, c) {
					if err != nil || language.refused[string(c)] != "" {
						t.Errorf("%q is refused: %v", pattern, err)
					}
					return
				}
				checkRefusal(t, err, pattern, language.refused[string(c)])
			})
		}
	}
}

func TestRefusedForms(t *testing.T) {
	for pattern, reason := range map[string]string{
		"GGGG": "all events are of one era; leave it out", "YYYY": localWeeks, "kk": oddHours,
		"MMMMM": "narrow names don't tell all values apart; use MMM",
		"LLLLL": "narrow names don't tell all values apart; use LLL",
		"EEEEE": "narrow names don't tell all values apart; use EEE",
		"QQQQQ": "narrow names don't tell all values apart; use QQQ",
		"qqqqq": "narrow names don't tell all values apart; use qqq",
		"%EY":   modifier, "%Od": modifier, "%Ed": modifier, "%OY": modifier, "%EOy": modifier, "%-Em": modifier,
		"%-c": localForm, "%5n": noBreaks, "%E%": modifier,
	} {
		t.Run(pattern, func(t *testing.T) {
			_, err := Parse(pattern)
			checkRefusal(t, err, pattern, reason)
		})
	}
}

// checkRefusal wants the reason, behind what is refused, which is all of the pattern.
func checkRefusal(t *testing.T, err error, pattern, reason string) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("error is %v, want a SyntaxError", err)
	}
	if want := pattern + ": " + reason; syntax.Reason != want || syntax.Offset != 0 {
		t.Errorf("refused at %d: %q, want %q", syntax.Offset, syntax.Reason, want)
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
