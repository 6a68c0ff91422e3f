package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A cronSchedule is a cron expression of five fields in UTC. Each field is a set of bits.
type cronSchedule struct{ minutes, hours, days, months, weekdays uint64 }

// anyValue is the bit of a field that does not restrict its values. If neither the days nor the weekdays have it, one of them suffices.
const anyValue = 1 << 63

var (
	monthNames   = []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

// parseCron parses five fields. Each is a list of *, ?, numbers, names or ranges, with a step after a slash.
func parseCron(fields []string) (c cronSchedule, err error) {
	for i, f := range []struct {
		set      *uint64
		min, max int
		names    []string
	}{{&c.minutes, 0, 59, nil}, {&c.hours, 0, 23, nil}, {&c.days, 1, 31, nil}, {&c.months, 1, 12, monthNames}, {&c.weekdays, 0, 6, weekdayNames}} {
		for part := range strings.SplitSeq(fields[i], ",") {
			set, err := parseCronPart(part, f.min, f.max, f.names)
			if err != nil {
				return c, fmt.Errorf("%.40q: %w", part, err)
			}
			*f.set |= set
		}
	}
	return c, nil
}

func parseCronPart(part string, least, most int, names []string) (set uint64, err error) {
	values, stepText, hasStep := strings.Cut(part, "/")
	step := 1
	if hasStep {
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return 0, fmt.Errorf("want a step of at least 1")
		}
	}
	first, last := least, most
	if values == "*" || values == "?" {
		if step == 1 {
			set = anyValue
		}
	} else {
		number := func(text string) int {
			if i := slices.Index(names, strings.ToLower(text)); i >= least {
				return i
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				return -1
			}
			return n
		}
		from, to, isRange := strings.Cut(values, "-")
		first = number(from)
		switch {
		case isRange:
			last = number(to)
		case !hasStep:
			last = first
		}
		if first < least || last > most || first > last {
			return 0, fmt.Errorf("want values of %d to %d", least, most)
		}
	}
	for v := first; v <= last; v += step {
		set |= 1 << v
	}
	return set, nil
}

// Next returns the first time after t, or zero if there is none in five years, enough for every 29 February until 2096.
func (c cronSchedule) Next(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Minute).Add(time.Minute)
	for end := t.Year() + 5; t.Year() <= end; {
		switch year, month, day := t.Date(); {
		case c.months>>month&1 == 0:
			t = time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
		case !c.hasDay(t):
			t = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
		case c.hours>>t.Hour()&1 == 0:
			t = t.Truncate(time.Hour).Add(time.Hour)
		case c.minutes>>t.Minute()&1 == 0:
			t = t.Add(time.Minute)
		default:
			return t
		}
	}
	return time.Time{}
}

func (c cronSchedule) hasDay(t time.Time) bool {
	day, weekday := c.days>>t.Day()&1 == 1, c.weekdays>>t.Weekday()&1 == 1
	if (c.days|c.weekdays)&anyValue != 0 {
		return day && weekday
	}
	return day || weekday
}
