package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Adjustable are the options that a Server may be told anew while it answers.
type Adjustable struct {
	TrustedProxies []netip.Prefix // whose X-Forwarded-* is believed
	AllowedOrigins []string       // CORS; nil means any
	FrameAncestors FrameAncestors // who may show the map in a frame; the zero value means anybody
	Attribution    string         // of the data, for TileJSON and the page

	// Requests per minute; 0 turns a limit off.
	APIRate, TileRate, KeyRate int
	// LogRequests is how many requests a second are logged, of those answered, those refused and those failed each; 0 is
	// no bound.
	LogRequests int
}

// check reports what is wrong in the options.
func (a *Adjustable) check() error {
	for name, rate := range map[string]int{"API": a.APIRate, "tile": a.TileRate, "key": a.KeyRate} {
		if rate < 0 {
			return fmt.Errorf("%s rate %d per minute is negative; 0 turns the limit off", name, rate)
		}
	}
	if a.LogRequests < 0 {
		return fmt.Errorf("%d logged requests a second are negative; 0 is no bound", a.LogRequests)
	}
	return nil
}

// Adjust gives s other options. A request that is being answered may see some of the old ones and some of the new; those
// that come once Adjust has returned see the new alone. An error changes nothing.
func (s *Server) Adjust(to Adjustable) error {
	if err := to.check(); err != nil {
		return fmt.Errorf("api: %w", err)
	}
	s.adjusted.mu.Lock()
	defer s.adjusted.mu.Unlock()
	s.limits.adjust(&to)
	s.adjusted.set(&to)
	return nil
}

// adjustable returns the options as they are now.
func (s *Server) adjustable() *Adjustable { return s.adjusted.current.Load() }

type middleware = func(http.Handler) http.Handler

// adjusted is all of a Server that follows its adjustable options, but for the limits.
type adjusted struct {
	current             atomic.Pointer[Adjustable]
	logged, loggedAdmin *logQuotas

	mu       sync.Mutex // guards what follows, and Server.Adjust
	handlers []*adjustedHandler
}

// begin sets the options that a server starts with.
func (a *adjusted) begin(with Adjustable, now time.Time) {
	a.logged, a.loggedAdmin = newLogQuotas(with.LogRequests, now), newLogQuotas(with.LogRequests, now)
	a.set(&with)
}

// set makes everything follow other options. The caller holds mu, or is alone.
func (a *adjusted) set(to *Adjustable) {
	a.current.Store(to)
	a.logged.set(to.LogRequests)
	a.loggedAdmin.set(to.LogRequests)
	for _, h := range a.handlers {
		h.set(to)
	}
}

// with returns the middleware that build returns for the options of the time of a request. It costs a request one load
// of a pointer. What build returns must keep nothing that is lost with it.
func (a *adjusted) with(build func(*Adjustable) middleware) middleware {
	return func(next http.Handler) http.Handler {
		h := &adjustedHandler{build: func(to *Adjustable) http.Handler { return build(to)(next) }}
		a.mu.Lock()
		defer a.mu.Unlock()
		h.set(a.current.Load())
		a.handlers = append(a.handlers, h)
		return h
	}
}

// An adjustedHandler is middleware around a handler, made anew whenever the options change.
type adjustedHandler struct {
	build   func(*Adjustable) http.Handler
	current atomic.Pointer[http.Handler]
}

func (h *adjustedHandler) set(to *Adjustable) {
	built := h.build(to)
	h.current.Store(&built)
}

func (h *adjustedHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*h.current.Load()).ServeHTTP(w, r)
}
