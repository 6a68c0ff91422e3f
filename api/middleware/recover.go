package middleware

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"limnomap/api/answer"
)

// Recover turns a panic into a 500 and logs it with the stack. If part of the answer was sent already, it closes the
// connection instead: clients and caches would take a truncated body that ends in order for the whole.
func Recover(log *slog.Logger) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tw := answer.Track(w)
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if v == http.ErrAbortHandler { // the handler wants the connection closed: not a mistake
					panic(v)
				}
				log.LogAttrs(r.Context(), slog.LevelError, "panic",
					slog.String("request_id", answer.RequestID(r)),
					slog.String("method", r.Method),
					slog.String("path", answer.LoggedPath(r)),
					slog.String("panic", fmt.Sprint(v)),
					slog.String("stack", string(debug.Stack())))
				if tw.Status != 0 {
					panic(http.ErrAbortHandler)
				}
				answer.WriteProblem(tw, r, &answer.Problem{Status: http.StatusInternalServerError})
			}()
			next.ServeHTTP(tw, r)
		})
	}
}
