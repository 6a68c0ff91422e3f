package config

import (
	"fmt"
	"strings"
	"time"
)

// shortestSchedule is the shortest period of a schedule: the database stores seconds.
const shortestSchedule = time.Second

// A Schedule is a period, such as 7d or 12h, or a cron expression of five fields in UTC. The zero value has no times.
type Schedule struct {
	times interface{ Next(time.Time) time.Time } // a Period or a cronSchedule
	text  string                                 // as it was written
}

// IsZero reports whether s has no times.
func (s Schedule) IsZero() bool { return s.times == nil }

// Next returns the first time after t. s must not be zero.
func (s Schedule) Next(t time.Time) time.Time { return s.times.Next(t) }

// Every returns a schedule that repeats after a period.
func Every(p Period) Schedule {
	text, _ := p.MarshalText() // which returns no error
	return Schedule{p, string(text)}
}

// MarshalText writes the schedule as it was read.
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.text), nil }

func (s *Schedule) UnmarshalText(text []byte) error {
	const want = "want a period such as 7d or 12h, or five cron fields in UTC such as 0 5 * * 1 (minute, hour, day of month, month, day of week)"
	fields := strings.Fields(string(text))
	if len(fields) == 1 {
		var p Period
		if err := p.UnmarshalText(text); err != nil || time.Duration(p) < shortestSchedule {
			return fmt.Errorf("schedule %.80q: %s", text, want)
		}
		s.times, s.text = p, strings.TrimSpace(string(text))
		return nil
	}
	if len(fields) != 5 {
		return fmt.Errorf("schedule %.80q: %s", text, want)
	}
	c, err := parseCron(fields)
	if err != nil {
		return fmt.Errorf("schedule %.80q: %w: %s", text, err, want)
	}
	if c.Next(time.Now()).IsZero() {
		return fmt.Errorf("schedule %.80q: there is no such day: %s", text, want)
	}
	s.times, s.text = c, strings.Join(fields, " ")
	return nil
}
