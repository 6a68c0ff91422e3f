package api

import "net/http"

// noticeHeader says of every answer that its data are not real, for those who see no page and no attribution.
const noticeHeader = "X-Data-Notice"

// withNotice adds the notice to every answer, if there is one.
func withNotice(notice string) func(http.Handler) http.Handler {
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
