package timepattern

import "time"

// field is a number that an instant has in its location's calendar.
type field uint8

const (
	fieldYear field = iota
	fieldYear2
	fieldCentury
	fieldQuarter
	fieldMonth
	fieldDayOfYear
	fieldDay
	fieldWeekYear
	fieldWeekYear2
	fieldWeek
	fieldSundayWeek
	fieldMondayWeek
	fieldWeekdaySunday
	fieldWeekdayMonday
	fieldAMPM
	fieldHour
	fieldHour12
	fieldMinute
	fieldSecond
	fieldEpoch
	fieldNano
)

// fields says of each field how it is computed, how many digits it has at most
// in the years 1970 to 9999, and the shortest time that it changes after.
var fields = [...]struct {
	value  func(time.Time) int64
	digits int
	unit   unit
}{
	fieldYear:      {func(t time.Time) int64 { return int64(t.Year()) }, 4, unitDay},
	fieldYear2:     {func(t time.Time) int64 { return int64(t.Year() % 100) }, 2, unitDay},
	fieldCentury:   {func(t time.Time) int64 { return int64(t.Year() / 100) }, 2, unitDay}, // the year without its last two digits
	fieldQuarter:   {func(t time.Time) int64 { return int64(t.Month()+2) / 3 }, 1, unitDay},
	fieldMonth:     {func(t time.Time) int64 { return int64(t.Month()) }, 2, unitDay},
	fieldDayOfYear: {func(t time.Time) int64 { return int64(t.YearDay()) }, 3, unitDay},
	fieldDay:       {func(t time.Time) int64 { return int64(t.Day()) }, 2, unitDay},

	// A week of ISO 8601 starts on Monday and belongs to the year of its Thursday.
	fieldWeekYear:  {func(t time.Time) int64 { y, _ := t.ISOWeek(); return int64(y) }, 4, unitDay},
	fieldWeekYear2: {func(t time.Time) int64 { y, _ := t.ISOWeek(); return int64(y % 100) }, 2, unitDay},
	fieldWeek:      {func(t time.Time) int64 { _, w := t.ISOWeek(); return int64(w) }, 2, unitDay},
	// POSIX's weeks are counted from the year's first Sunday or Monday; the days before are week 0.
	fieldSundayWeek:    {func(t time.Time) int64 { return int64(t.YearDay()+6-int(t.Weekday())) / 7 }, 2, unitDay},
	fieldMondayWeek:    {func(t time.Time) int64 { return int64(t.YearDay()+6-(int(t.Weekday())+6)%7) / 7 }, 2, unitDay},
	fieldWeekdaySunday: {func(t time.Time) int64 { return int64(t.Weekday()) }, 1, unitDay},         // 0 Sunday … 6 Saturday
	fieldWeekdayMonday: {func(t time.Time) int64 { return int64(t.Weekday()+6)%7 + 1 }, 1, unitDay}, // 1 Monday … 7 Sunday

	fieldAMPM:   {func(t time.Time) int64 { return int64(t.Hour() / 12) }, 1, unitHour},
	fieldHour:   {func(t time.Time) int64 { return int64(t.Hour()) }, 2, unitHour},
	fieldHour12: {func(t time.Time) int64 { return int64(t.Hour()+11)%12 + 1 }, 2, unitHour}, // 1–12
	fieldMinute: {func(t time.Time) int64 { return int64(t.Minute()) }, 2, unitMinute},
	fieldSecond: {func(t time.Time) int64 { return int64(t.Second()) }, 2, unitSecond},
	fieldEpoch:  {func(t time.Time) int64 { return t.Unix() }, 12, unitSecond},
	fieldNano:   {func(t time.Time) int64 { return int64(t.Nanosecond()) }, 9, unitNone},
}

func (f field) value(t time.Time) int64 { return fields[f].value(t) }

// The names are English, as in the C locale and in the JDK's CLDR data. Each
// list begins with the field's smallest value.
var (
	monthNames = []string{"January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December"}
	weekdayNames  = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	quarterNames  = []string{"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}
	quarterShorts = []string{"Q1", "Q2", "Q3", "Q4"}
)

// firstNamed is the field's smallest value, where its names are counted from.
func (f field) firstNamed() int64 {
	if f == fieldAMPM {
		return 0
	}
	return 1
}

// shortened returns the names' first three letters.
func shortened(names []string) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = s[:3]
	}
	return out
}
