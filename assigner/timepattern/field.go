package timepattern

import "time"

// field is a number that an instant has in its location's calendar.
type field uint8

const (
	fieldEra       field = iota // 0 BCE, 1 CE
	fieldYear                   // proleptic: 0 is 1 BCE
	fieldYearOfEra              // never below 1
	fieldYear2                  // the last two digits
	fieldCentury                // the year without those two
	fieldQuarter
	fieldMonth
	fieldDayOfYear
	fieldDay
	fieldJulianDay // modified Julian day: days since 1858-11-17
	fieldISOYear   // the year the ISO 8601 week belongs to
	fieldISOYear2
	fieldISOWeek
	fieldSundayWeek    // %U: weeks since the year's first Sunday
	fieldMondayWeek    // %W: weeks since the year's first Monday
	fieldWeekdaySunday // 0 Sunday … 6 Saturday
	fieldWeekdayMonday // 1 Monday … 7 Sunday
	fieldAMPM          // 0, 1
	fieldHour
	fieldHour24  // 1–24
	fieldHour011 // 0–11
	fieldHour12  // 1–12
	fieldMinute
	fieldSecond
	fieldEpoch
	fieldNano
	fieldMilliOfDay
	fieldNanoOfDay
)

func (f field) value(t time.Time) int64 {
	switch f {
	case fieldEra:
		if t.Year() > 0 {
			return 1
		}
		return 0
	case fieldYear:
		return int64(t.Year())
	case fieldYearOfEra:
		if y := int64(t.Year()); y > 0 {
			return y
		}
		return 1 - int64(t.Year())
	case fieldYear2:
		return lastTwo(t.Year())
	case fieldCentury:
		return floorDiv(int64(t.Year()), 100)
	case fieldQuarter:
		return int64(t.Month()+2) / 3
	case fieldMonth:
		return int64(t.Month())
	case fieldDayOfYear:
		return int64(t.YearDay())
	case fieldDay:
		return int64(t.Day())
	case fieldJulianDay:
		return floorDiv(wallSeconds(t), 86400) + 40587 // the epoch's modified Julian day
	}
	if f <= fieldWeekdayMonday {
		return f.weekValue(t)
	}
	return f.clockValue(t)
}

func (f field) weekValue(t time.Time) int64 {
	switch f {
	case fieldISOYear:
		y, _ := t.ISOWeek()
		return int64(y)
	case fieldISOYear2:
		y, _ := t.ISOWeek()
		return lastTwo(y)
	case fieldISOWeek:
		_, w := t.ISOWeek()
		return int64(w)
	case fieldSundayWeek:
		return int64(t.YearDay()+6-int(t.Weekday())) / 7
	case fieldMondayWeek:
		return int64(t.YearDay()+6-(int(t.Weekday())+6)%7) / 7
	case fieldWeekdaySunday:
		return int64(t.Weekday())
	}
	return int64(t.Weekday()+6)%7 + 1
}

func (f field) clockValue(t time.Time) int64 {
	hour := int64(t.Hour())
	switch f {
	case fieldAMPM:
		return hour / 12
	case fieldHour:
		return hour
	case fieldHour24:
		return (hour+23)%24 + 1
	case fieldHour011:
		return hour % 12
	case fieldHour12:
		return (hour+11)%12 + 1
	case fieldMinute:
		return int64(t.Minute())
	case fieldSecond:
		return int64(t.Second())
	case fieldEpoch:
		return t.Unix()
	case fieldNano:
		return int64(t.Nanosecond())
	}
	nanos := (hour*3600+int64(t.Minute())*60+int64(t.Second()))*1e9 + int64(t.Nanosecond())
	if f == fieldMilliOfDay {
		return nanos / 1e6
	}
	return nanos
}

// least is the field's smallest value, where names are counted from.
func (f field) least() int64 {
	switch f {
	case fieldMonth, fieldQuarter, fieldWeekdayMonday:
		return 1
	}
	return 0
}

// digits is how many digits the field has at most in the years 0 to 9999.
func (f field) digits() int {
	switch f {
	case fieldYear, fieldYearOfEra, fieldISOYear:
		return 4
	case fieldDayOfYear:
		return 3
	case fieldJulianDay:
		return 7
	case fieldEpoch:
		return 12
	case fieldNano:
		return 9
	case fieldMilliOfDay:
		return 8
	case fieldNanoOfDay:
		return 14
	}
	return 2
}

func (f field) unit() unit {
	switch f {
	case fieldAMPM, fieldHour, fieldHour24, fieldHour011, fieldHour12:
		return unitHour
	case fieldMinute:
		return unitMinute
	case fieldSecond, fieldEpoch:
		return unitSecond
	case fieldNano, fieldMilliOfDay, fieldNanoOfDay:
		return unitNone
	}
	return unitDay
}

func lastTwo(year int) int64 {
	if year < 0 {
		year = -year
	}
	return int64(year % 100)
}

// wallSeconds is what t's Unix time would be if its local clock showed UTC.
func wallSeconds(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
