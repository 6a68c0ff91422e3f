// Package middleware holds the handlers around the router: each takes the next handler and adds one
// function. Package api puts them in order. They share the answer.RequestInfo of a request.
package middleware

import (
	"net/http"
	"slices"
)

// A Middleware wraps a handler.
type Middleware = func(http.Handler) http.Handler

// Wrap puts the middleware around h. The first is the outermost.
func Wrap(h http.Handler, around ...Middleware) http.Handler {
	for _, m := range slices.Backward(around) {
		h = m(h)
	}
	return h
}
