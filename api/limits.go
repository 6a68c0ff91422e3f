package api

import (
	"net/http"
	"time"

	"limnomap/data"
)

// limits are the limiters of the routes. Tiles have a bucket of their own: one view of a map is 20 to 60 of them.
type limits struct {
	api     *limiter // per client address
	tiles   *limiter // per client address
	keys    *limiter // per key
	refused *limiter // per client address, of requests without a valid key
}

func newLimits(opts Options, now func() time.Time, shared *sharing) limits {
	l := limits{
		api:     newLimiter("api", opts.APIRate, now),
		tiles:   newLimiter("tiles", opts.TileRate, now),
		keys:    newLimiter("keys", opts.KeyRate, now),
		refused: newLimiter("refused", opts.APIRate, now),
	}
	for _, each := range l.all() {
		each.share(shared)
	}
	return l
}

func (l *limits) all() []*limiter { return []*limiter{l.api, l.tiles, l.keys, l.refused} }

// A guard stands before a route's handler.
type guard func(s *Server, next http.Handler) http.Handler

// unlimited lets everybody in, at any rate: what is answered from memory and what an orchestrator asks.
func unlimited(_ *Server, next http.Handler) http.Handler { return reads(next) }

// perAddress lets everybody in, at the rate of the open endpoints.
func perAddress(s *Server, next http.Handler) http.Handler {
	return s.limits.api.limit(addressKey)(reads(next))
}

// perMap lets everybody in, at the rate of tiles.
func perMap(s *Server, next http.Handler) http.Handler {
	return s.limits.tiles.limit(addressKey)(reads(next))
}

// perKey lets in who bears a key of the monitoring endpoint, at that key's rate.
func perKey(s *Server, next http.Handler) http.Handler {
	return s.keyed(access{scope: data.ScopeMonitor, headers: apiKeyHeader}, next)
}

// perMetricsKey lets in who bears a key of the metrics, where such is demanded, and everybody elsewhere. Metrics are never
// needed more than while the database is away.
func perMetricsKey(s *Server, next http.Handler) http.Handler {
	if !s.opts.MetricsKey {
		return unlimited(s, next)
	}
	return s.keyed(access{scope: data.ScopeMetrics, headers: apiKeyOrBearer, outlasts: true}, next)
}

// keyed lets in who bears a key that opens so much, at that key's rate. Which methods there are is no secret, so OPTIONS
// needs no key.
func (s *Server) keyed(a access, next http.Handler) http.Handler {
	denied := s.guesses.damp(a.headers, s.limits.refused.limit(addressKey)(http.HandlerFunc(unauthorized)))
	return reads(s.keyring.require(a, denied)(s.limits.keys.limit(nameKey)(s.keyring.scoped(a)(next))))
}
