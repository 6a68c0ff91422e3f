package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"limnomap/data/refresh"
)

// shortestSchedule is what --every may be at the least: the database counts in seconds.
const shortestSchedule = time.Second

// A schedule is a period, written as 7d or 12h, or a cron expression of five fields in UTC. The zero value has none.
type schedule struct {
	refresh.Schedule
	text string // as it was written
}

// MarshalText writes the schedule as it was read.
func (s schedule) MarshalText() ([]byte, error) { return []byte(s.text), nil }

// Next makes a period a schedule.
func (p period) Next(t time.Time) time.Time { return t.Add(time.Duration(p)) }

// A cronSchedule is a cron expression, in UTC.
type cronSchedule struct{ cron.Schedule }

func (c cronSchedule) Next(t time.Time) time.Time { return c.Schedule.Next(t.UTC()) }

func (s *schedule) UnmarshalText(text []byte) error {
	const want = "want a period such as 7d or 12h, or five cron fields in UTC such as 0 5 * * 1 (minute, hour, day of month, month, day of week)"
	fields := strings.Fields(string(text))
	if len(fields) == 1 {
		var p period
		if err := p.UnmarshalText(text); err != nil || time.Duration(p) < shortestSchedule {
			return fmt.Errorf("schedule %.80q: %s", text, want)
		}
		s.Schedule, s.text = p, strings.TrimSpace(string(text))
		return nil
	}
	// The parser takes names of time zones too, and panics at one that it cannot cut off.
	if len(fields) != 5 || strings.Contains(string(text), "=") {
		return fmt.Errorf("schedule %.80q: %s", text, want)
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(strings.Join(fields, " "))
	if err != nil {
		return fmt.Errorf("schedule %.80q: %w: %s", text, err, want)
	}
	c := cronSchedule{parsed}
	// The parser looks five years ahead, which is far enough for a 29 February but for that of 2104.
	if c.Next(time.Now()).IsZero() {
		return fmt.Errorf("schedule %.80q: no such day comes: %s", text, want)
	}
	s.Schedule, s.text = c, strings.Join(fields, " ")
	return nil
}
