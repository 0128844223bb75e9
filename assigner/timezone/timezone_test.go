package timezone

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestForms: what a zone's clock shows in winter and in summer of 2026.
func TestForms(t *testing.T) {
	for _, row := range []struct{ text, winter, summer string }{
		{"UTC", "+0000 UTC", "+0000 UTC"},
		{"Europe/Berlin", "+0100 CET", "+0200 CEST"},
		{":Europe/Berlin", "+0100 CET", "+0200 CEST"},
		{"Etc/GMT-8", "+0800 +08", "+0800 +08"},
		{"CST-8", "+0800 CST", "+0800 CST"},
		{":CST-8", "+0800 CST", "+0800 CST"},
		{"CST+6", "-0600 CST", "-0600 CST"},
		{"CST6", "-0600 CST", "-0600 CST"},
		{"UTC0", "+0000 UTC", "+0000 UTC"},
		{"GMT+8", "-0800 GMT", "-0800 GMT"},
		{"<+0330>-3:30", "+0330 +0330", "+0330 +0330"},
		{"<-03>3", "-0300 -03", "-0300 -03"},
		{"IST-05:30:00", "+0530 IST", "+0530 IST"},
		{"CET-1CEST", "+0100 CET", "+0200 CEST"},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "+0100 CET", "+0200 CEST"},
		{"EST5EDT,M3.2.0,M11.1.0", "-0500 EST", "-0400 EDT"},
		{"NZST-12NZDT,M9.5.0,M4.1.0/3", "+1300 NZDT", "+1200 NZST"},
		{"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "-0200 -02", "-0100 -01"},
		{"LHST-10:30LHDT-11,M10.1.0,M4.1.0", "+1100 LHDT", "+1030 LHST"},
		{"XXX3YYY,J60,J300", "-0300 XXX", "-0200 YYY"},
		{"XXX3YYY,59/2:30,299/167", "-0300 XXX", "-0200 YYY"},
	} {
		t.Run(row.text, func(t *testing.T) {
			loc, err := Load(row.text)
			if err != nil {
				t.Fatal(err)
			}
			if name := strings.TrimPrefix(row.text, ":"); loc.String() != name {
				t.Errorf("it is called %q", loc)
			}
			for at, want := range map[time.Time]string{
				time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC): row.winter, time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC): row.summer,
			} {
				if got := at.In(loc).Format("-0700 MST"); got != want {
					t.Errorf("%s is %s, want %s", at, got, want)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{
		"", ":", "Local", "Asia/Shanghi", "Mars/Phobos", "+08:00", "Europe", "CST", "CS-8", "8", "+8", "UTC+", "UTC+8:60", "UTC+8:00:60", "UTC+25", "UTC+8x", "UTC +8", "CST-8 ",
		"<+03-3", "<+>-3", "<+03>", "<a b>3", "CET-1CEST,", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0,", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
		"CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5,M10.5.0", "CET-1CEST,J0,J300", "CET-1CEST,J366,J300", "CET-1CEST,366,300", "CET-1CEST,M3.5.0/168,M10.5.0",
		"CET-1,M3.5.0,M10.5.0", "CET-1CE", "../etc/passwd", "/nonexistent", "/etc/passwd", "CST-8\n", "CÉT-1",
	} {
		if loc, err := Load(text); !errors.Is(err, ErrZone) {
			t.Errorf("%q is %v, %v", text, loc, err)
		}
	}
}

// TestRulesAreThoseOfTheDatabase: a rule gives what the zone gives whose rule it
// is.
func TestRulesAreThoseOfTheDatabase(t *testing.T) {
	for name, text := range map[string]string{
		"Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3", "America/New_York": "EST5EDT,M3.2.0,M11.1.0", "Pacific/Auckland": "NZST-12NZDT,M9.5.0,M4.1.0/3",
		"Europe/Dublin": "IST-1GMT0,M10.5.0,M3.5.0/1", "Asia/Jerusalem": "IST-2IDT,M3.4.4/26,M10.5.0", "Asia/Shanghai": "CST-8", "Asia/Kathmandu": "<+0545>-5:45",
		"America/Nuuk": "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "Asia/Tehran": "<+0330>-3:30",
	} {
		zone, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := Load(text)
		if err != nil {
			t.Fatal(err)
		}
		from, to := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		rapid.Check(t, func(t *rapid.T) {
			at := time.Unix(rapid.Int64Range(from, to).Draw(t, "time"), 0)
			if got, want := at.In(rule).Format(time.UnixDate), at.In(zone).Format(time.UnixDate); got != want {
				t.Fatalf("%s is %s by %s, %s by the zone", at.UTC(), got, text, want)
			}
			wall := at.In(zone)
			if got := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, rule).In(zone); got.Sub(wall).Abs() > time.Hour+time.Minute {
				t.Fatalf("%s is read back as %s", wall, got)
			}
		})
	}
}

// TestAsTheCLibraryDoes compares with date(1), whose zones are the C library's.
func TestAsTheCLibraryDoes(t *testing.T) {
	date, err := exec.LookPath("date")
	if err != nil {
		t.Fatal(err)
	}
	for _, tz := range []string{"CST-8", "GMT+8", "<+0330>-3:30", "CET-1CEST,M3.5.0,M10.5.0/3", "XXX3YYY,J60,J300", "XXX3YYY,59/2:30,299/3", "NZST-12NZDT,M9.5.0,M4.1.0/3", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"} {
		loc, err := Load(tz)
		if err != nil {
			t.Fatal(err)
		}
		for _, sec := range []int64{0, 1767225600, 1772690828, 1782907200, 1792000000, 1835308799, 4000000000} {
			c := exec.Command(date, "-d", fmt.Sprintf("@%d", sec), "+%Y-%m-%d %H:%M:%S %z %Z")
			c.Env = append(os.Environ(), "TZ="+tz)
			out, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := time.Unix(sec, 0).In(loc).Format("2006-01-02 15:04:05 -0700 MST"), strings.TrimSpace(string(out)); got != want {
				t.Errorf("%s: %d is %s, and %s by the C library", tz, sec, got, want)
			}
		}
	}
}

func TestHost(t *testing.T) {
	if loc, err := Host(""); err != nil || loc != time.Local {
		t.Errorf("without TZ it is %v %v", loc, err)
	}
	if loc, err := Host("CST-8"); err != nil || loc.String() != "CST-8" {
		t.Errorf("%v %v", loc, err)
	}
	if _, err := Host("Asia/Shanghi"); !errors.Is(err, ErrZone) {
		t.Error(err)
	}
}

// FuzzPosix: whatever is taken has the offset that its text says in winter or
// summer, and never fails later.
func FuzzPosix(f *testing.F) {
	for _, seed := range []string{"CST-8", "<+0330>-3:30", "CET-1CEST,M3.5.0,M10.5.0/3", "XXX3YYY,J60,J300", "AAA24:59:59BBB-24", "AAA0BBB,0/-167,365/167"} {
		f.Add(seed, int64(1772690828))
	}
	f.Fuzz(func(t *testing.T, text string, sec int64) {
		loc, err := Posix(text)
		if err != nil {
			return
		}
		at := time.Unix(sec%(1<<37), 0)
		name, offset := at.In(loc).Zone()
		if !strings.Contains(text, name) {
			t.Errorf("%q is called %q", text, name)
		}
		if offset < -26*3600 || offset > 26*3600 {
			t.Errorf("%q is %d s ahead of UTC", text, offset)
		}
		if !at.In(loc).Equal(at) {
			t.Errorf("%q changes %v", text, at)
		}
	})
}
