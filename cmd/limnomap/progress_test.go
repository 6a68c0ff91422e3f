package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/config"
)

// Without a terminal, with a tile every 50 milliseconds, the log has a line every 10 seconds.
func TestProgressInALog(t *testing.T) {
	var log bytes.Buffer
	con := &console{err: &log, log: newLogger(&log, "text", slog.LevelInfo, new(config.Redactor))}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	p := newProgress(con, "warming", 1000, func() time.Time { return now })
	for range 1000 {
		now = now.Add(50 * time.Millisecond)
		p.step()
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 5 { // in 50 seconds
		t.Fatalf("%d lines:\n%s", len(lines), &log)
	}
	for _, want := range []string{"msg=warming", "tiles=200", "of=1000", "tiles_per_second=20", "left=40s"} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("the first line lacks %s: %s", want, lines[0])
		}
	}
	if got, want := p.finish(), "50s, 20 tiles a second"; got != want {
		t.Errorf("finish() = %q, want %q", got, want)
	}
}

func TestProgressWithoutATotal(t *testing.T) {
	var log bytes.Buffer
	con := &console{err: &log, log: newLogger(&log, "text", slog.LevelInfo, new(config.Redactor))}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	p := newProgress(con, "verifying", unknownTotal, func() time.Time { return now })
	for range 1000 {
		now = now.Add(25 * time.Millisecond)
		p.step()
	}
	if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "msg=verifying tiles=400 tiles_per_second=40\n") {
		t.Errorf("the log has\n%s", got)
	}
}
