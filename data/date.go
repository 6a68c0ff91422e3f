package data

import (
	"fmt"
	"time"
)

// A Date is a calendar day in UTC, counted from 1970-01-01, which is the zero Date.
type Date int32

// SecondsPerDay is the length of a UTC day.
const SecondsPerDay = 24 * 60 * 60

// The range of dates with a year of four digits, as in RFC 3339: 0000-01-01 to 9999-12-31.
const (
	MinDate Date = -719_528
	MaxDate Date = 2_932_896
)

// DateOf returns the day in UTC that holds t.
func DateOf(t time.Time) Date { return Date(floorDiv(t.Unix(), SecondsPerDay)) }

// ParseDate reads `YYYY-MM-DD`.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("date %.80q is not a day as YYYY-MM-DD", s)
	}
	return DateOf(t), nil
}

// Time returns midnight UTC of d.
func (d Date) Time() time.Time { return time.Unix(int64(d)*SecondsPerDay, 0).UTC() }

// String returns d as `YYYY-MM-DD`.
func (d Date) String() string { return d.Time().Format(time.DateOnly) }

// MonthStart returns the first day of d's month.
func (d Date) MonthStart() Date { return d - Date(d.Time().Day()-1) }

// Week returns the ISO week that holds d.
func (d Date) Week() Week { return Week(floorDiv(int64(d)+daysToMonday, 7)) }

// A Week is an ISO 8601 week, counted from the week that holds 1970-01-01; its Monday is 1969-12-29.
type Week int32

// 1970-01-01 was a Thursday, the fourth day of its ISO week.
const daysToMonday = 3

// Monday returns the first day of w.
func (w Week) Monday() Date { return Date(int32(w)*7 - daysToMonday) }

// Sunday returns the last day of w.
func (w Week) Sunday() Date { return w.Monday() + 6 }

// End returns the last second of w. The map of a week before the current one shows the official statements that were active then.
func (w Week) End() time.Time { return (w.Sunday() + 1).Time().Add(-time.Second) }

// String returns w in ISO 8601's form, such as 2026-W47.
func (w Week) String() string {
	year, week := w.Monday().Time().ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
