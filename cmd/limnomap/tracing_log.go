package main

import (
	"context"
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
)

// quoteNothing has the OpenTelemetry SDK write to our log. By itself it writes to stderr in a form of its own, and of a header
// in OTEL_EXPORTER_OTLP_HEADERS that it cannot read it quotes the value, which may be a password.
func quoteNothing(log *slog.Logger) {
	otel.SetLogger(logr.FromSlogHandler(settingsLog{log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		text := err.Error()
		log.Warn("OpenTelemetry reports a fault", "error", text[:min(len(text), maxExportError)])
	}))
}

// A settingsLog takes what the SDK says of settings that it cannot use, and of that what it was about, never what it quotes.
type settingsLog struct{ log *slog.Logger }

// leastSettings is the level of the SDK's warnings, logr's verbosity 1. Below there are the steps of its work.
const leastSettings slog.Level = -1

// Enabled implements slog.Handler.
func (settingsLog) Enabled(_ context.Context, level slog.Level) bool { return level >= leastSettings }

// Handle implements slog.Handler.
func (s settingsLog) Handle(_ context.Context, r slog.Record) error {
	s.log.Warn("a variable OTEL_... is wrong and not used", "failed", r.Message)
	return nil
}

// WithAttrs implements slog.Handler.
func (s settingsLog) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup implements slog.Handler.
func (s settingsLog) WithGroup(string) slog.Handler { return s }
