package api

import (
	"fmt"
	"net/netip"

	"limnomap/api/middleware"
)

// FrameAncestors say which sites may show an embedded map in a frame.
type FrameAncestors = middleware.FrameAncestors

// Adjustable are the options that may change while a Server runs.
type Adjustable struct {
	TrustedProxies []netip.Prefix // whose X-Forwarded-* is believed
	AllowedOrigins []string       // CORS; nil means all
	FrameAncestors FrameAncestors // which sites may show the map in a frame; the zero value means all
	Attribution    string         // of the data, for TileJSON and the page

	// Requests per minute; 0 turns a limit off.
	APIRate, TileRate, KeyRate int
	// LogRequests is how many requests per second are logged, for each of answered, refused and failed ones; 0 is no bound.
	LogRequests int
}

// check returns an error for the first invalid option.
func (a *Adjustable) check() error {
	for name, rate := range map[string]int{"API": a.APIRate, "tile": a.TileRate, "key": a.KeyRate} {
		if rate < 0 {
			return fmt.Errorf("%s rate %d per minute is negative; 0 turns the limit off", name, rate)
		}
	}
	if a.LogRequests < 0 {
		return fmt.Errorf("%d logged requests per second is negative; 0 is no bound", a.LogRequests)
	}
	return nil
}

// Adjust replaces the options. A request that is being answered may see some of the old options and some of the new; requests
// that come after Adjust has returned see only the new ones. An error changes nothing.
func (s *Server) Adjust(to Adjustable) error {
	if err := to.check(); err != nil {
		return fmt.Errorf("api: %w", err)
	}
	s.adjusting.Lock()
	defer s.adjusting.Unlock()
	s.limits.setRates(&to)
	s.logQuota.Set(to.LogRequests)
	s.adminLogQuota.Set(to.LogRequests)
	s.options.Store(&to)
	return nil
}

// adjustable returns the present options.
func (s *Server) adjustable() *Adjustable { return s.options.Load() }
