package api

import (
	"io"
	"log/slog"
	"net/http"
	"time"
)

// statusClientGone is logged when the client left before anything was written; nginx made the number customary.
const statusClientGone = 499

// maxLoggedPath bounds what one request can write into the log.
const maxLoggedPath = 1024

// logRequests writes one line for each request when it is done. A 5xx is an error unless the client had left by then,
// because what fails for want of a client is not our fault. Of an API key only the name is logged; the query is not,
// because people put keys there.
func logRequests(l *slog.Logger, now func() time.Time) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := now()
			r, rec := withRecord(r)
			rec.writer = trackedWriter{ResponseWriter: w}
			tw := &rec.writer
			returned := false
			defer func() {
				gone := r.Context().Err() != nil
				status := tw.status
				switch {
				case status != 0:
				case gone:
					status = statusClientGone
				case returned:
					status = http.StatusOK // net/http writes it for a handler that wrote nothing
				}
				level := slog.LevelInfo
				if status >= http.StatusInternalServerError && !gone {
					level = slog.LevelError
				}
				if !l.Enabled(r.Context(), level) {
					return
				}
				attrs := make([]slog.Attr, 0, 10)
				attrs = append(attrs,
					slog.String("method", r.Method),
					slog.String("path", clip(r.URL.Path, maxLoggedPath)),
					slog.Int("status", status),
					slog.Int64("bytes", tw.bytes),
					slog.Float64("duration_ms", now().Sub(start).Seconds()*1000),
					slog.String("client", addrOf(r).String()),
					slog.String("request_id", rec.id[0]))
				if rec.key != "" {
					attrs = append(attrs, slog.String("key", rec.key))
				}
				if gone {
					attrs = append(attrs, slog.Bool("client_gone", true))
				}
				if !returned {
					attrs = append(attrs, slog.Bool("aborted", true))
				}
				l.LogAttrs(r.Context(), level, "request", attrs...)
			}()
			next.ServeHTTP(tw, r)
			returned = true
		})
	}
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// A trackedWriter counts what passes through it. It keeps the abilities of the writer beneath: sendfile by ReadFrom,
// flushing, and by Unwrap whatever an http.ResponseController asks for.
type trackedWriter struct {
	http.ResponseWriter
	status int // 0 until the final header is written
	bytes  int64
}

// track returns w as a trackedWriter: itself if it is one, so that the middleware share it.
func track(w http.ResponseWriter) *trackedWriter {
	if tw, ok := w.(*trackedWriter); ok {
		return tw
	}
	return &trackedWriter{ResponseWriter: w}
}

// Unwrap serves http.ResponseController.
func (w *trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *trackedWriter) WriteHeader(status int) {
	// Informational answers precede the final one, except 101, which is final.
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *trackedWriter) Write(p []byte) (int, error) {
	w.implicitOK()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// WriteString saves io.WriteString the copy of its argument.
func (w *trackedWriter) WriteString(s string) (int, error) {
	w.implicitOK()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets a file reach the socket without passing through this process, where the writer beneath can do that.
func (w *trackedWriter) ReadFrom(src io.Reader) (int64, error) {
	w.implicitOK()
	n, err := io.Copy(w.ResponseWriter, src)
	w.bytes += n
	return n, err
}

// FlushError serves http.ResponseController, which prefers it to Flush.
func (w *trackedWriter) FlushError() error {
	w.implicitOK()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush serves handlers that ask for an http.Flusher. It has no way to tell of an error, and the next write will.
func (w *trackedWriter) Flush() { _ = w.FlushError() }

func (w *trackedWriter) implicitOK() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}
