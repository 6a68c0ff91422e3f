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
	metrics *ratelimit.Limiter // per client address
	push    *ratelimit.Limiter // per client address, of subscriptions to notifications
}

// maxPushRate is less than the rate of the open endpoints: what one client subscribes to is stored for a year.
const maxPushRate = 10

// pushRate returns the rate of subscriptions; 0 for no limit, if the open endpoints have none.
func pushRate(apiRate int) int { return min(apiRate, maxPushRate) }

func newLimits(g *ratelimit.Group, a *Adjustable) *limits {
	return &limits{
		api:     g.Limiter("api", ratelimit.Address, a.APIRate),
		tiles:   g.Limiter("tiles", ratelimit.Address, a.TileRate),
		keys:    g.Limiter("keys", ratelimit.KeyName, a.KeyRate),
		refused: g.Limiter("refused", ratelimit.Address, a.APIRate),
		push:    g.Limiter("push", ratelimit.Address, pushRate(a.APIRate)),
		// Not shared: a Prometheus asks each server, also while Redis is away.
		metrics: g.Local().Limiter("metrics", ratelimit.Address, a.MetricsRate),
	}
}

// setRates changes the rates. A limit whose rate stays the same keeps what its clients have used.
func (l *limits) setRates(a *Adjustable) {
	l.api.SetRate(a.APIRate)
	l.tiles.SetRate(a.TileRate)
	l.keys.SetRate(a.KeyRate)
	l.refused.SetRate(a.APIRate)
	l.push.SetRate(pushRate(a.APIRate))
	l.metrics.SetRate(a.MetricsRate)
}

// A routeAccess says who may use a route, and how often.
type routeAccess uint8

const (
	unlimited     routeAccess = iota // all, at any rate: answers from memory and health checks
	perAddress                       // all, at the rate of the open endpoints
	perMap                           // all, at the rate of tiles
	perKey                           // who has a key of the monitoring endpoint, at that key's rate
	subscribing                      // all, at the rate of the open endpoints and that of subscriptions, with POST
	unsubscribing                    // the same, with DELETE
	perMetricsKey                    // who has a key of the metrics, if the operator wants one; otherwise all; at the rate of metrics
)

// guard returns a handler that passes the requests with that access on to next. OPTIONS needs no key.
func (s *Server) guard(a routeAccess, next http.Handler) http.Handler {
	switch {
	case a == perAddress:
		return s.limits.api.Handler(answer.ReadOnly(next))
	case a == perMap:
		return s.limits.tiles.Handler(answer.ReadOnly(next))
	case a == subscribing:
		return s.limits.api.Handler(answer.Only(http.MethodPost, s.limits.push.Handler(next)))
	case a == unsubscribing:
		return s.limits.api.Handler(answer.Only(http.MethodDelete, next))
	case a == perKey:
		next = s.keyring.Require(auth.Access{Scope: apikey.ScopeMonitor, Header: auth.HeaderKey})(next)
	case a == perMetricsKey:
		if s.common.opts.MetricsKey { // metrics are most needed while the database is away
			next = s.keyring.Require(auth.Access{Scope: apikey.ScopeMetrics, Header: auth.HeaderOrBearerKey, UseStaleKeys: true})(next)
		}
		return s.limits.metrics.Handler(answer.ReadOnly(next))
	}
	return answer.ReadOnly(next)
}
