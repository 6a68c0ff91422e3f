package middleware

import (
	"net/http"

	"limnomap/api/answer"
)

// ProblemPages has problems sent to people as pages. It must be outside of everything that refuses requests.
func ProblemPages(page answer.ProblemPage) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tw := answer.Track(w)
			tw.SendProblemsAs(page)
			next.ServeHTTP(tw, r)
			tw.ImplicitOK()
		})
	}
}
