package api

import (
	"net/http"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
	"limnomap/data/apikey"
)

// limits are the limiters of the routes. Tiles have a bucket of their own: one view of a map is 20 to 60 of them.
type limits struct {
	api     dial // per client address
	tiles   dial // per client address
	keys    dial // per key
	refused dial // per client address, of requests without a valid key
}

// newLimits returns the limits with these rates. They belong to the place that they stand in: a dial is not copied.
func newLimits(a Adjustable, now func() time.Time, shared *sharing) *limits {
	l := new(limits)
	for _, of := range l.named() {
		each := newLimiter(of.name, of.rate(&a), now)
		each.share(shared)
		of.dial.Store(each)
	}
	return l
}

// A namedLimit is a limit with its name in the answers, and its requests per minute.
type namedLimit struct {
	name string
	dial *dial
	rate func(*Adjustable) int
}

func (l *limits) named() []namedLimit {
	return []namedLimit{
		{"api", &l.api, func(a *Adjustable) int { return a.APIRate }},
		{"tiles", &l.tiles, func(a *Adjustable) int { return a.TileRate }},
		{"keys", &l.keys, func(a *Adjustable) int { return a.KeyRate }},
		{"refused", &l.refused, func(a *Adjustable) int { return a.APIRate }},
	}
}

func (l *limits) all() []*dial {
	var all []*dial
	for _, of := range l.named() {
		all = append(all, of.dial)
	}
	return all
}

// adjust gives the limits other rates. One whose rate stays goes on with what its clients have spent; of another every
// client has a full bucket, as after a start.
func (l *limits) adjust(a *Adjustable) {
	for _, of := range l.named() {
		of.dial.turn(of.rate(a))
	}
}

// A dial is the limiter of some routes, which may be turned to another rate while requests pass.
type dial struct{ atomic.Pointer[limiter] }

// turn puts a limiter of another rate in the place of the one there is. One goroutine at a time may call it.
func (d *dial) turn(perMinute int) {
	before := d.Load()
	if before.perMinute == perMinute {
		return
	}
	l := newLimiter(before.name, perMinute, before.now)
	l.refused = before.refused
	l.share(before.sharing)
	d.Store(l)
}

// limit is limiter.limit by whichever limiter there is when a request comes.
func (d *dial) limit(key clientKey) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.Load().pass(w, r, key, next) })
	}
}

// A guard stands before a route's handler.
type guard func(s *Server, next http.Handler) http.Handler

// unlimited lets everybody in, at any rate: what is answered from memory and what an orchestrator asks.
func unlimited(_ *Server, next http.Handler) http.Handler { return answer.ReadOnly(next) }

// perAddress lets everybody in, at the rate of the open endpoints.
func perAddress(s *Server, next http.Handler) http.Handler {
	return s.limits.api.limit(addressKey)(answer.ReadOnly(next))
}

// perMap lets everybody in, at the rate of tiles.
func perMap(s *Server, next http.Handler) http.Handler {
	return s.limits.tiles.limit(addressKey)(answer.ReadOnly(next))
}

// perKey lets in who bears a key of the monitoring endpoint, at that key's rate.
func perKey(s *Server, next http.Handler) http.Handler {
	return s.keyed(access{scope: apikey.ScopeMonitor, headers: apiKeyHeader}, next)
}

// perMetricsKey lets in who bears a key of the metrics, where such is demanded, and everybody elsewhere. Metrics are never
// needed more than while the database is away.
func perMetricsKey(s *Server, next http.Handler) http.Handler {
	if !s.opts.MetricsKey {
		return unlimited(s, next)
	}
	return s.keyed(access{scope: apikey.ScopeMetrics, headers: apiKeyOrBearer, outlasts: true}, next)
}

// keyed lets in who bears a key that opens so much, at that key's rate. Which methods there are is no secret, so OPTIONS
// needs no key.
func (s *Server) keyed(a access, next http.Handler) http.Handler {
	denied := s.guesses.damp(a.headers, s.limits.refused.limit(addressKey)(http.HandlerFunc(unauthorized)))
	return answer.ReadOnly(s.keyring.require(a, denied)(s.limits.keys.limit(nameKey)(s.keyring.scoped(a)(next))))
}
