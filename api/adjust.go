package api

import (
	"net/netip"

	"limnomap/api/middleware"
)

// FrameAncestors say which sites may show an embedded map in a frame.
type FrameAncestors = middleware.FrameAncestors

// LogAddresses say how much of the addresses of clients is logged.
type LogAddresses = middleware.LogAddresses

// Adjustable are the options that may change while a Server runs. Neither New nor Adjust checks them: the program checks them as
// it reads its flags.
type Adjustable struct {
	TrustedProxies []netip.Prefix // whose X-Forwarded-* is believed
	AllowedOrigins []string       // CORS; nil means all
	FrameAncestors FrameAncestors // which sites may show the map in a frame; the zero value means all
	Attribution    string         // of the data, before the credit lines of their providers
	Contact        Contact        // who answers questions about the lakes
	Links          Links          // the operator's own pages

	// Requests per minute; 0 or less is no limit.
	APIRate, TileRate, KeyRate, MetricsRate int
	// LogRequests is how many requests per second are logged, for each of answered, refused and failed ones; 0 or less is no
	// bound.
	LogRequests int
	// LogAddresses is how much of the address of a client is logged; the zero value is its network.
	LogAddresses LogAddresses
}

// Adjust replaces the options. A request that is being answered may see some of the old options and some of the new; requests
// that come after Adjust has returned see only the new ones.
func (s *Server) Adjust(to Adjustable) {
	s.adjusting.Lock()
	defer s.adjusting.Unlock()
	s.limits.setRates(&to)
	s.logQuota.Set(to.LogRequests)
	s.adminLogQuota.Set(to.LogRequests)
	s.common.options.Store(&to)
	s.setHandler()
}
