package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// shortestSchedule is the shortest period of a schedule: the database stores seconds.
const shortestSchedule = time.Second

// A Schedule is a period, such as 7d or 12h, or a cron expression of five fields in UTC. The zero value has no times.
type Schedule struct {
	cron.Schedule
	text string // as it was written
}

// Every returns a schedule that repeats after a period.
func Every(p Period) Schedule {
	text, _ := p.MarshalText() // which returns no error
	return Schedule{p, string(text)}
}

// MarshalText writes the schedule as it was read.
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// A cronSchedule is a cron expression in UTC.
type cronSchedule struct{ cron.Schedule }

func (c cronSchedule) Next(t time.Time) time.Time { return c.Schedule.Next(t.UTC()) }

func (s *Schedule) UnmarshalText(text []byte) error {
	const want = "want a period such as 7d or 12h, or five cron fields in UTC such as 0 5 * * 1 (minute, hour, day of month, month, day of week)"
	fields := strings.Fields(string(text))
	if len(fields) == 1 {
		var p Period
		if err := p.UnmarshalText(text); err != nil || time.Duration(p) < shortestSchedule {
			return fmt.Errorf("schedule %.80q: %s", text, want)
		}
		s.Schedule, s.text = p, strings.TrimSpace(string(text))
		return nil
	}
	// The parser also takes TZ=…, and panics if nothing follows it.
	if len(fields) != 5 || strings.Contains(string(text), "=") {
		return fmt.Errorf("schedule %.80q: %s", text, want)
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(strings.Join(fields, " "))
	if err != nil {
		return fmt.Errorf("schedule %.80q: %w: %s", text, err, want)
	}
	c := cronSchedule{parsed}
	// The parser searches five years, enough for every 29 February until 2096.
	if c.Next(time.Now()).IsZero() {
		return fmt.Errorf("schedule %.80q: there is no such day: %s", text, want)
	}
	s.Schedule, s.text = c, strings.Join(fields, " ")
	return nil
}
