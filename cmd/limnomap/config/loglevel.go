package config

import (
	"fmt"
	"log/slog"
)

// A LogLevel is the lowest level that is logged.
type LogLevel struct{ slog.Level }

func (l *LogLevel) UnmarshalText(text []byte) error {
	if err := l.Level.UnmarshalText(text); err != nil {
		return fmt.Errorf("level %q is none of debug, info, warn and error", text)
	}
	return nil
}
