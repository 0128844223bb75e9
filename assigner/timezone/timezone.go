// Package timezone finds a time zone by the names that a C library takes for the
// environment's TZ: those of the IANA database, files, and POSIX's own forms,
// such as CST-8. What it can't read it refuses: package time, and most C
// libraries, would go on in UTC without a word.
//
// The database is built in, since minimal images have none. It holds no state.
package timezone

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	_ "time/tzdata" // the same names must work everywhere
)

// ErrZone is wrapped by every error of Load and Host.
var ErrZone = errors.New("no time zone: write a name of the IANA database, such as Europe/Berlin or UTC, or a form of POSIX's TZ, " +
	"such as CST-8, which is 8 hours ahead of UTC, or <+0330>-3:30")

// Load returns the zone that a text names, whose String is the text:
//
//	Europe/Berlin, UTC           a name of the IANA database
//	:Europe/Berlin               the same; a colon in front says nothing more
//	/usr/share/zoneinfo/Turkey   a file in the format TZif
//	CST-8, CET-1CEST,M3.5.0,...  POSIX.1-2024, section 8.3; see Posix
//
// A text that is a name of the database is that, as in glibc: EST5EDT.
func Load(text string) (*time.Location, error) {
	name := strings.TrimPrefix(text, ":")
	switch {
	case name == "" || name == "Local": // package time has a meaning of its own for them
		return nil, fmt.Errorf("%q is %w", text, ErrZone)
	case name[0] == '/':
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%q is %w: %w", text, ErrZone, err)
		}
		loc, err := time.LoadLocationFromTZData(name, data)
		if err != nil {
			return nil, fmt.Errorf("the file %q is %w: %w", name, ErrZone, err)
		}
		return loc, nil
	}
	if loc, err := time.LoadLocation(name); err == nil {
		return loc, nil
	}
	return Posix(name)
}

// Host returns the zone of the host, of which tz is the environment's TZ, ""
// if it isn't set or empty.
func Host(tz string) (*time.Location, error) {
	if tz == "" {
		return time.Local, nil
	}
	return Load(tz)
}
