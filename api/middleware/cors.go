package middleware

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/cors"
)

// preflightAge is how long a browser may remember the answer to a preflight; Chromium caps it at two hours.
const preflightAge = 2 * time.Hour

// CORS lets pages of the given origins read the API; without origins, all pages. Credentials are never allowed: the only
// secret is X-API-Key, which a script has to send explicitly.
func CORS(origins []string) Middleware {
	exposed := []string{"Content-Crs", "ETag", "Link", "RateLimit", "RateLimit-Policy", "Retry-After", "X-As-Of", "X-Data-Date", "X-Data-Notice", "X-Request-Id"}
	options := cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodOptions},
		AllowedHeaders: []string{ // all that the API reads, and those that caches in browsers add
			"X-API-Key", "X-Request-Id", "Accept", "Accept-Language", "Authorization", "Cache-Control", "Content-Type", "If-Match",
			"If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Last-Event-ID", "Range", "Traceparent", "Tracestate",
		},
		ExposedHeaders: exposed,
		MaxAge:         int(preflightAge / time.Second),
	}
	if len(origins) > 0 && !slices.Contains(origins, "*") {
		listed := cors.New(options)
		return func(next http.Handler) http.Handler { return spelled(listed.Handler(next)) }
	}
	options.AllowedOrigins = []string{"*"}
	preflights := cors.New(options)
	return func(next http.Handler) http.Handler {
		readable := readableByAll(exposed, next)
		preflight := spelled(preflights.Handler(readable))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				preflight.ServeHTTP(w, r)
				return
			}
			readable.ServeHTTP(w, r)
		})
	}
}

// spelled hands a preflight on with the names of header fields as the library wants them: in lower case and sorted, as browsers send them (Fetch,
// section 4.8). Other clients and proxies send them in any case and order.
func spelled(next http.Handler) http.Handler {
	const requested = "Access-Control-Request-Headers"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if values := r.Header[requested]; len(values) > 0 && r.Method == http.MethodOptions {
			names := strings.FieldsFunc(strings.ToLower(strings.Join(values, ",")), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
			slices.Sort(names)
			r = r.Clone(r.Context())
			r.Header.Set(requested, strings.Join(slices.Compact(names), ","))
		}
		next.ServeHTTP(w, r)
	})
}

// readableByAll marks every answer as readable by any page. The library, which handles only the preflights, does this only
// for requests with an Origin, and adds Vary: Origin: a shared cache would then keep every tile once per embedding page.
func readableByAll(exposed []string, next http.Handler) http.Handler {
	allOrigins, exposedNames := []string{"*"}, []string{strings.Join(exposed, ", ")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Access-Control-Allow-Origin"] = allOrigins
		h["Access-Control-Expose-Headers"] = exposedNames
		next.ServeHTTP(w, r)
	})
}
