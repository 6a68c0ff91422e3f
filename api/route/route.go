// Package route finds the handler of a path. All routes are in a router of gorilla/mux. In front of it is a shortcut for
// the addresses that are requested most: those without variables, and tiles.
//
// The shortcut finds the handler that the router would find, which TestShortcutAgreesWithRouter checks. It is here because
// the router tries one regular expression after the other and copies the request to add the variables. For a tile that takes
// 2.1 µs and 8 allocations, more than all the rest of answering from memory, and by the shortcut 0.08 µs and none
// (BenchmarkRouter).
package route

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/gorilla/mux"

	"limnomap/api/answer"
)

// A Router is a handler that passes each request on to the handler of its path. It must not be changed once it serves.
type Router struct {
	basePath string
	fixed    map[string]http.Handler // the routes without variables, by path below the base path
	tiles    []tileRoute
	router   *mux.Router // has all routes
}

// A tileRoute is a route whose path ends with three variables and a suffix.
type tileRoute struct {
	prefix, suffix string // with the slash before the first variable
	handler        http.Handler
}

// New returns a Router for paths that begin with basePath. Other paths, and those without a route, are passed to notFound.
//
// It passes on every method, since gorilla/mux would answer HEAD with 405 and without Allow. It does not clean paths, which
// would redirect a wrong address.
func New(basePath string, notFound http.Handler) *Router {
	r := &Router{basePath: basePath, fixed: make(map[string]http.Handler), router: mux.NewRouter().SkipClean(true)}
	r.router.NotFoundHandler = notFound
	return r
}

var (
	variable    = regexp.MustCompile(`\{(\w+)\}`)
	tilePattern = regexp.MustCompile(`^([^{}]*/)\{\w+\}/\{\w+\}/\{\w+\}([^{}/]*)$`)
)

// Handle adds a route. The pattern is the path below the base path, with at most three variables such as {lake_id}, each of
// which matches one or more characters but no slash. Patterns without variables are tried first, then those that end with
// three variables, then the others; within each kind the first added is taken. So patterns of different kinds must not match
// the same path.
func (r *Router) Handle(pattern string, h http.Handler) {
	var names []string
	for _, match := range variable.FindAllStringSubmatch(pattern, -1) {
		names = append(names, match[1])
	}
	switch match := tilePattern.FindStringSubmatch(pattern); {
	case len(names) == 0:
		r.fixed[pattern] = h
	case match != nil:
		r.tiles = append(r.tiles, tileRoute{match[1], match[2], h})
	}
	r.router.Handle(r.basePath+pattern, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req, info := answer.WithInfo(req)
		vars := mux.Vars(req)
		for i, name := range names {
			info.PathValues[i] = vars[name]
		}
		h.ServeHTTP(w, req)
	}))
}

// HandleMatch adds a route for the paths below the base path that match reports. Such a path is the only value of the route.
func (r *Router) HandleMatch(match func(below string) bool, h http.Handler) {
	r.router.NewRoute().MatcherFunc(func(req *http.Request, _ *mux.RouteMatch) bool {
		below, ok := strings.CutPrefix(req.URL.Path, r.basePath)
		return ok && match(below)
	}).HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req, info := answer.WithInfo(req)
		info.PathValues[0] = strings.TrimPrefix(req.URL.Path, r.basePath)
		h.ServeHTTP(w, req)
	})
}

// Values returns the values of the variables in a route's pattern, in their order.
func Values(req *http.Request) [3]string { return answer.InfoOf(req).PathValues }

func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h, values, ok := r.shortcut(req.URL.Path)
	if !ok {
		r.router.ServeHTTP(w, req)
		return
	}
	req, info := answer.WithInfo(req)
	info.PathValues = values
	h.ServeHTTP(w, req)
}

// shortcut returns the handler of a path and the values in it, if it knows the route.
func (r *Router) shortcut(path string) (h http.Handler, values [3]string, ok bool) {
	below, ok := strings.CutPrefix(path, r.basePath)
	if !ok {
		return nil, values, false
	}
	if h, ok := r.fixed[below]; ok {
		return h, values, true
	}
	for i := range r.tiles {
		if values, ok := r.tiles[i].match(below); ok {
			return r.tiles[i].handler, values, true
		}
	}
	return nil, values, false
}

// match returns the values in a path that matches the pattern.
func (t *tileRoute) match(below string) (values [3]string, ok bool) {
	rest, ok := strings.CutPrefix(below, t.prefix)
	if !ok {
		return values, false
	}
	if rest, ok = strings.CutSuffix(rest, t.suffix); !ok {
		return values, false
	}
	values[0], rest, _ = strings.Cut(rest, "/")
	values[1], values[2], _ = strings.Cut(rest, "/")
	return values, values[0] != "" && values[1] != "" && values[2] != "" && !strings.Contains(values[2], "/")
}
