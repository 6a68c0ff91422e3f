package main

import (
	"errors"
	"io/fs"
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
)

// tellTracing has OpenTelemetry's library, whose log is the whole process's, write to log. By itself it writes to stderr in
// a form of its own, and repeats what it does not understand of OTEL_EXPORTER_OTLP_HEADERS: that is a password.
func tellTracing(log *slog.Logger) {
	otel.SetLogger(logr.New(tracingLog{log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		text := err.Error()
		log.Warn("OpenTelemetry reports a fault", "error", text[:min(len(text), maxExportError)])
	}))
}

// A tracingLog takes the errors of OpenTelemetry's library, without the values that these are of.
type tracingLog struct{ log *slog.Logger }

func (tracingLog) Init(logr.RuntimeInfo)            {}
func (tracingLog) Enabled(level int) bool           { return false } // of what is no error
func (tracingLog) Info(int, string, ...any)         {}
func (l tracingLog) WithValues(...any) logr.LogSink { return l }
func (l tracingLog) WithName(string) logr.LogSink   { return l }

// Error leaves err out too, which may hold a part of what is not understood, but for what it says of a file.
func (l tracingLog) Error(err error, doing string, _ ...any) {
	args := []any{"doing", doing}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		args = append(args, "error", file)
	}
	l.log.Warn("a variable OTEL_… is not understood, and left out", args...)
}
