package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"limnomap/cmd/limnomap/config"
)

// A console is where a command writes: its result to out, everything else to err and to the log.
type console struct {
	out, err io.Writer
	log      *slog.Logger

	level      *slog.LevelVar // of log
	invocation *invocation    // that runs
}

// newLogger returns a logger that hides secrets.
func newLogger(w io.Writer, format string, level slog.Leveler, redactor *config.Redactor) *slog.Logger {
	w = config.RedactingWriter{Writer: w, Redactor: redactor}
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// formatTime writes a time for people and programs, "-" for none.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// formatMB writes a number of bytes for people.
func formatMB(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
