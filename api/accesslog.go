package api

import (
	"log/slog"
	"net/http"
	"time"

	"limnomap/api/answer"
)

// maxLoggedPath bounds what one request can write into the log.
const maxLoggedPath = 1024

// logRequests writes one line for each request when it is done, and where more than perSecond of a kind are done in a
// second, says in the next line of that kind how many it left out. A 5xx is an error unless the client had left by then,
// because what fails for want of a client is not our fault. Of an API key only the name is logged; the query is not,
// because people put keys there.
func logRequests(l *slog.Logger, now func() time.Time, perSecond int) func(http.Handler) http.Handler {
	return logRequestsUpTo(newLogQuotas(perSecond, now()), l, now)
}

// logRequestsUpTo is logRequests with quotas that somebody may change meanwhile.
func logRequestsUpTo(quotas *logQuotas, l *slog.Logger, now func() time.Time) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, info := answer.WithInfo(r)
			info.Start = now()
			info.Writer = answer.Writer{ResponseWriter: w}
			tw := &info.Writer
			returned := false
			defer func() {
				gone := r.Context().Err() != nil
				status := tw.Status
				switch {
				case status != 0:
				case gone:
					status = answer.StatusClientGone
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
				ok, leftOut := quotas.of(status).take(info.Start)
				if !ok {
					return
				}
				attrs := make([]slog.Attr, 0, 12)
				attrs = append(attrs,
					slog.String("method", r.Method),
					slog.String("path", clip(r.URL.Path, maxLoggedPath)),
					slog.Int("status", status),
					slog.Int64("bytes", tw.Bytes),
					slog.Float64("duration_ms", now().Sub(info.Start).Seconds()*1000),
					slog.String("client", addrOf(r).String()),
					slog.String("request_id", info.ID[0]))
				if info.TraceID != "" {
					attrs = append(attrs, slog.String("trace_id", info.TraceID))
				}
				if info.KeyName != "" {
					attrs = append(attrs, slog.String("key", info.KeyName))
				}
				if gone {
					attrs = append(attrs, slog.Bool("client_gone", true))
				}
				if !returned {
					attrs = append(attrs, slog.Bool("aborted", true))
				}
				if leftOut > 0 {
					attrs = append(attrs, slog.Int64("left_out", leftOut))
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
