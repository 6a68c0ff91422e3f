package middleware

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"limnomap/api/answer"
)

// AccessLog logs each request when it is done, within the quota. A 5xx is an error unless the client had left by then: an
// answer that fails because the client left is no fault of the server. Of an API key only the name is logged; the query is
// not, because people put keys there. Requests that are routine, of probes and of Prometheus, are logged at level debug, a 503 among them:
// it is the right answer of a server that is not ready. A 400 has its reason and the beginning of the User-Agent.
func AccessLog(log *slog.Logger, quota *LogQuota, now func() time.Time, addresses func() LogAddresses, routine func(*http.Request) bool) Middleware {
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
				switch {
				case routine(r) && (status < http.StatusInternalServerError || status == http.StatusServiceUnavailable || gone):
					level = slog.LevelDebug
				case status >= http.StatusInternalServerError && !gone:
					level = slog.LevelError
				}
				if !log.Enabled(r.Context(), level) {
					return
				}
				ok, leftOut := quota.take(status, info.Start)
				if !ok {
					return
				}
				attrs := make([]slog.Attr, 0, 14)
				attrs = append(attrs,
					slog.String("method", r.Method),
					slog.String("path", answer.LoggedPath(r)),
					slog.Int("status", status),
					slog.Int64("bytes", tw.Bytes),
					slog.Float64("duration_ms", float64(now().Sub(info.Start).Microseconds())/1000))
				if client := addresses().Text(answer.ClientAddr(r)); client != "" {
					attrs = append(attrs, slog.String("client", client))
				}
				attrs = append(attrs, slog.String("request_id", info.ID[0]))
				if status == http.StatusBadRequest {
					attrs = append(attrs, slog.String("reason", beginning(info.Reason, maxReason)), slog.String("user_agent", beginning(r.UserAgent(), maxUserAgent)))
				}
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
				log.LogAttrs(r.Context(), level, "request", attrs...)
			}()
			next.ServeHTTP(tw, r)
			returned = true
		})
	}
}

// What is logged of a 400, in bytes. The rest of a User-Agent tells browsers apart, which no one needs to find a mistake in a program.
const (
	maxReason    = 200
	maxUserAgent = 60
)

// beginning returns the first bytes of a text as valid UTF-8.
func beginning(text string, bytes int) string {
	if len(text) > bytes {
		text = text[:bytes] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
