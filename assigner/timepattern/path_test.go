package timepattern

import (
	"strings"
	"testing"
	"time"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func epochWithMillis() time.Time { return time.Unix(0, 12345678).UTC() }

func TestCheckPath(t *testing.T) {
	for _, tc := range []struct {
		name, pattern, zone string
		ok                  bool
	}{
		{"flink's default", "yyyy-MM-dd--HH", "UTC", true},
		{"nested folders", "yyyy/MM/dd/HH", "UTC", true},
		{"nested strftime", "year=%Y/month=%m/day=%d", "UTC", true},
		{"strftime's date has slashes", "%D", "UTC", true},
		{"text with blanks", "'am' d. MMMM", "UTC", true},
		{"dot inside a name", "yyyy.MM.dd", "UTC", true},
		{"underscore inside a name", "yyyy_MM", "UTC", true},
		{"offset without colon", "yyyy-MM-dd--HHxx", "Asia/Kolkata", true},
		{"zone id", "VV/yyyy", "Europe/Berlin", true},
		{"zone abbreviation", "%Y %Z", "Europe/Berlin", true},
		{"GMT offset in whole hours", "yyyy O", "Asia/Shanghai", true},
		{"empty", "", "UTC", false},
		{"only quotes of nothing", "[]", "UTC", false},
		{"leading slash", "/yyyy", "UTC", false},
		{"trailing slash", "yyyy/", "UTC", false},
		{"double slash", "yyyy//MM", "UTC", false},
		{"slash alone", "/", "UTC", false},
		{"leading dot", ".yyyy", "UTC", false},
		{"leading underscore", "_yyyy", "UTC", false},
		{"hidden inner folder", "yyyy/_MM", "UTC", false},
		{"parent", "yyyy/../..", "UTC", false},
		{"itself", "./yyyy", "UTC", false},
		{"colon", "HH:mm", "UTC", false},
		{"strftime's time has colons", "%T", "UTC", false},
		{"offset with colon", "yyyy xxx", "Asia/Kolkata", false},
		{"offset with colon west of UTC only in the past", "yyyy xxx", "Africa/Monrovia", false},
		{"GMT offset with minutes", "yyyy O", "Asia/Kolkata", false},
		{"GMT offset with minutes in summer only", "yyyy O", "Australia/Lord_Howe", false},
		{"newline", "%Y\n", "UTC", false},
		{"tab", "yyyy\tMM", "UTC", false},
		{"delete", "yyyy\x7f", "UTC", false},
		{"zero byte", "yyyy\x00", "UTC", false},
		{"zone id of the host", "VV", "Local", false},
		{"longest name", strings.Repeat("-", 250) + "yyyy", "UTC", true},
		{"name too long", strings.Repeat("-", 253) + "yyyy", "UTC", false},
		{"name too long after a slash", "yyyy/" + strings.Repeat("-", 256), "UTC", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Parse(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			loc := time.Local
			if tc.zone != "Local" {
				loc = zone(t, tc.zone)
			}
			if err := p.CheckPath(loc); (err == nil) != tc.ok {
				t.Errorf("CheckPath says %v", err)
			}
		})
	}
}
