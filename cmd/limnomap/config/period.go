package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is the length of a day in UTC.
const Day = 24 * time.Hour

// A Period is a length of time that may be in days: 28d, 36h, 90m.
type Period time.Duration

func (p *Period) UnmarshalText(text []byte) error {
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		const mostDays = 36500 // a time.Duration has room for 106751
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n <= mostDays {
			*p = Period(time.Duration(n) * Day)
			return nil
		}
	} else if d, err := time.ParseDuration(string(text)); err == nil && d >= 0 {
		*p = Period(d)
		return nil
	}
	return fmt.Errorf("period %q is not a length of time such as 28d, 36h or 90m", text)
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
