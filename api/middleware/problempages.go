package middleware

import (
	"net/http"

	"limnomap/api/answer"
)

// ProblemPages has problems sent to people as pages. The paths in all problems are those that clients see: they begin with prefix in place of basePath. It
// must be outside of everything that refuses requests.
func ProblemPages(page answer.ProblemPage, basePath, prefix string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tw := answer.Track(w)
			tw.SendProblemsAs(page, basePath, prefix)
			next.ServeHTTP(tw, r)
			tw.ImplicitOK()
		})
	}
}
