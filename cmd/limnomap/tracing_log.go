package main

import (
	"errors"
	"io/fs"
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
)

// logTracing makes the OpenTelemetry library, which has one log for the whole process, write to log. Without this it writes to
// stderr in its own format, and may repeat a value that it cannot parse.
func logTracing(log *slog.Logger) {
	otel.SetLogger(logr.New(tracingLog{log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		text := err.Error()
		log.Warn("OpenTelemetry error", "error", text[:min(len(text), maxExportError)])
	}))
}

// A tracingLog logs the errors of the OpenTelemetry library without the values that caused them.
type tracingLog struct{ log *slog.Logger }

func (tracingLog) Init(logr.RuntimeInfo)            {}
func (tracingLog) Enabled(level int) bool           { return false } // for all but errors
func (tracingLog) Info(int, string, ...any)         {}
func (l tracingLog) WithValues(...any) logr.LogSink { return l }
func (l tracingLog) WithName(string) logr.LogSink   { return l }

// Error logs err only if it is about a file: other errors may repeat a part of the value.
func (l tracingLog) Error(err error, doing string, _ ...any) {
	args := []any{"doing", doing}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		args = append(args, "error", file)
	}
	l.log.Warn("cannot parse a variable OTEL_…: ignoring it", args...)
}
