package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"limnomap/api/answer"
)

// recoverPanics turns a panic into a 500 and a line in the log with the stack. When part of the answer has left
// already, it cuts the connection instead: a truncated body that ends in order would be taken, and cached, as whole.
func recoverPanics(l *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tw := answer.Track(w)
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if v == http.ErrAbortHandler { // the handler's wish to cut the connection, not a mistake
					panic(v)
				}
				l.LogAttrs(r.Context(), slog.LevelError, "panic",
					slog.String("request_id", answer.RequestID(r)),
					slog.String("method", r.Method),
					slog.String("path", clip(r.URL.Path, maxLoggedPath)),
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
