package middleware

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// A Setting is a value that may be replaced while requests are served, with the middleware that depend on it. It is safe for
// concurrent use.
type Setting[T any] struct {
	current atomic.Pointer[T]

	mu       sync.Mutex
	handlers []*rebuiltHandler[T] // guarded by mu
}

// NewSetting returns a Setting with that value.
func NewSetting[T any](value *T) *Setting[T] {
	s := new(Setting[T])
	s.current.Store(value)
	return s
}

// Load returns the current value. Do not change it.
func (s *Setting[T]) Load() *T { return s.current.Load() }

// Store replaces the value and rebuilds the middleware that depend on it.
func (s *Setting[T]) Store(value *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.Store(value)
	for _, h := range s.handlers {
		h.rebuild(value)
	}
}

// Middleware returns middleware that build makes from the current value: now, and again whenever the value is replaced. A
// request costs one load of a pointer more. State of the middleware is lost when it is rebuilt.
func (s *Setting[T]) Middleware(build func(*T) Middleware) Middleware {
	return func(next http.Handler) http.Handler {
		h := &rebuiltHandler[T]{build: func(value *T) http.Handler { return build(value)(next) }}
		s.mu.Lock()
		defer s.mu.Unlock()
		h.rebuild(s.Load())
		s.handlers = append(s.handlers, h)
		return h
	}
}

// A rebuiltHandler is a handler that is made from the current value of a setting.
type rebuiltHandler[T any] struct {
	build   func(*T) http.Handler
	current atomic.Pointer[http.Handler]
}

func (h *rebuiltHandler[T]) rebuild(value *T) {
	handler := h.build(value)
	h.current.Store(&handler)
}

func (h *rebuiltHandler[T]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*h.current.Load()).ServeHTTP(w, r)
}
