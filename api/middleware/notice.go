package middleware

import "net/http"

// noticeHeader is the header field that says that the data are not real, for clients that show no page and no attribution.
const noticeHeader = "X-Data-Notice"

// Notice adds the notice to every answer, if there is one.
func Notice(notice string) Middleware {
	return func(next http.Handler) http.Handler {
		if notice == "" {
			return next
		}
		value := []string{notice}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header()[noticeHeader] = value
			next.ServeHTTP(w, r)
		})
	}
}
