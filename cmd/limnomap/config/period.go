package config

import (
	"fmt"
	"strconv"
	"time"
)

// Day is the length of a day in UTC.
const Day = 24 * time.Hour

// year is a year of a period, without leap days.
const year = 365

// A Period is a length of time that may be in days, or in years of 365 days: 28d, 2y, 36h, 90m.
type Period time.Duration

func (p *Period) UnmarshalText(text []byte) error {
	unit := map[byte]int{'d': 1, 'y': year}
	if last := len(text) - 1; last >= 0 && unit[text[last]] != 0 {
		const mostDays = 36500 // a time.Duration has room for 106751
		days := unit[text[last]]
		n, err := strconv.Atoi(string(text[:last]))
		if err == nil && n >= 0 && n <= mostDays/days {
			*p = Period(time.Duration(n*days) * Day)
			return nil
		}
	} else if d, err := time.ParseDuration(string(text)); err == nil && d >= 0 {
		*p = Period(d)
		return nil
	}
	return fmt.Errorf("period %q is not a length of time such as 28d, 2y, 36h or 90m", text)
}

// MarshalText writes the period in days if it is a whole number of days.
func (p Period) MarshalText() ([]byte, error) {
	if d := time.Duration(p); d%Day != 0 {
		return []byte(d.String()), nil
	}
	return []byte(strconv.FormatInt(int64(time.Duration(p)/Day), 10) + "d"), nil
}

// Next returns the end of a period that begins at t. It makes a period a schedule.
func (p Period) Next(t time.Time) time.Time { return t.Add(time.Duration(p)) }
