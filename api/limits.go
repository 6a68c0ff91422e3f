package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/auth"
	"limnomap/api/ratelimit"
	"limnomap/data/apikey"
)

// limits are the rate limits of the routes. Tiles have their own: one view of a map loads 20 to 60 of them.
type limits struct {
	api     *ratelimit.Limiter // per client address
	tiles   *ratelimit.Limiter // per client address
	keys    *ratelimit.Limiter // per key
	refused *ratelimit.Limiter // per client address, of requests without a valid key
}

func newLimits(g *ratelimit.Group, a *Adjustable) *limits {
	return &limits{
		api:     g.Limiter("api", a.APIRate),
		tiles:   g.Limiter("tiles", a.TileRate),
		keys:    g.Limiter("keys", a.KeyRate),
		refused: g.Limiter("refused", a.APIRate),
	}
}

// setRates changes the rates. A limit whose rate stays the same keeps what its clients have used.
func (l *limits) setRates(a *Adjustable) {
	l.api.SetRate(a.APIRate)
	l.tiles.SetRate(a.TileRate)
	l.keys.SetRate(a.KeyRate)
	l.refused.SetRate(a.APIRate)
}

// A guard decides who may use a route, and how often.
type guard func(next http.Handler) http.Handler

// guards are those of all routes.
type guards struct {
	limits     *limits
	keyring    *auth.Keyring
	metricsKey bool // the metrics need a key
}

// unlimited allows all, at any rate: for answers from memory and for health checks.
func (g *guards) unlimited(next http.Handler) http.Handler { return answer.ReadOnly(next) }

// perAddress allows all, at the rate of the open endpoints.
func (g *guards) perAddress(next http.Handler) http.Handler {
	return g.limits.api.By(ratelimit.Address)(answer.ReadOnly(next))
}

// perMap allows all, at the rate of tiles.
func (g *guards) perMap(next http.Handler) http.Handler {
	return g.limits.tiles.By(ratelimit.Address)(answer.ReadOnly(next))
}

// perKey requires a key of the monitoring endpoint, and allows that key's rate. OPTIONS needs no key.
func (g *guards) perKey(next http.Handler) http.Handler {
	return answer.ReadOnly(g.keyring.Require(auth.Access{Scope: apikey.ScopeMonitor, Header: auth.HeaderKey})(next))
}

// perMetricsKey requires a key of the metrics, if the operator wants one. Metrics are most needed while the database is away.
func (g *guards) perMetricsKey(next http.Handler) http.Handler {
	if !g.metricsKey {
		return g.unlimited(next)
	}
	return answer.ReadOnly(g.keyring.Require(auth.Access{Scope: apikey.ScopeMetrics, Header: auth.HeaderOrBearerKey, UseStaleKeys: true})(next))
}
