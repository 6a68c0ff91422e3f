// Package ratelimit bounds how many requests per minute a client may send, by its address or by its API key. Several servers
// may share the limits.
package ratelimit

import (
	"hash/maphash"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api/answer"
)

// window is the time that a rate is given for.
const window = time.Minute

// Config is what all limiters of a server have in common.
type Config struct {
	Quota      Quota // keeps the buckets that several servers share; nil: the limits are this server's own
	Now        func() time.Time
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// A Group makes the limiters of one server.
type Group struct {
	now     func() time.Time
	shared  *shared
	refused *prometheus.CounterVec
}

// NewGroup returns a Group whose metrics are registered.
func NewGroup(c Config) *Group {
	return &Group{
		now:    c.Now,
		shared: newShared(c),
		refused: promauto.With(c.Registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "limnomap_rate_limited_total",
			Help: "Requests refused with 429, by the limit that they met.",
		}, []string{"limit"}),
	}
}

// Local returns a Group whose limiters are this server's own, with the same metrics.
func (g *Group) Local() *Group { return &Group{now: g.now, refused: g.refused} }

// Limiter returns a limiter of so many requests per minute and client; 0 or less allows all. The name is that of the policy
// in the answers: printable ASCII without quotes and backslashes.
func (g *Group) Limiter(name string, client Client, perMinute int) *Limiter {
	l := &Limiter{group: g, name: name, client: client, refused: g.refused.WithLabelValues(name)}
	l.buckets.Store(newBucketLimit(name, perMinute, g.now, g.shared))
	return l
}

// A Limiter allows each client a number of requests per minute. It is safe for concurrent use.
type Limiter struct {
	group   *Group
	name    string
	client  Client
	refused prometheus.Counter
	buckets atomic.Pointer[bucketLimit]
}

// SetRate changes the rate. If it differs from the present one, every client starts with a full bucket. Only one goroutine at
// a time may call it.
func (l *Limiter) SetRate(perMinute int) {
	if l.buckets.Load().perMinute != perMinute {
		l.buckets.Store(newBucketLimit(l.name, perMinute, l.group.now, l.group.shared))
	}
}

// Handler returns a handler that passes the requests that Allow allows on to next.
func (l *Limiter) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.Allow(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// Allow reports whether the client that sent r may send a request now, and answers r if it may not. The answer to r says how
// many requests are left. Several limits may be asked for one request; each adds its own item to the fields, which are lists.
func (l *Limiter) Allow(w http.ResponseWriter, r *http.Request) bool {
	b := l.buckets.Load()
	if b.interval == 0 {
		return true
	}
	g := b.takeFor(l.client, r)
	h := w.Header()
	if h["Ratelimit"] == nil {
		h["Ratelimit"] = answer.InfoOf(r).RateLimit[:0]
	}
	seconds := b.describe(h, g)
	if g.ok {
		return true
	}
	l.refused.Inc()
	retryAfter := strconv.FormatInt(seconds, 10)
	answer.WriteProblem(w, r, &answer.Problem{
		Status: http.StatusTooManyRequests,
		Detail: "Too many requests under the limit " + b.policy[0] + ". Try again after " + retryAfter + " s.",
		Header: http.Header{"Retry-After": {retryAfter}},
	})
	return false
}

// A bucketLimit is a limit at one rate. Each client has a bucket that holds the tokens of one minute and fills steadily: a
// client that was quiet may load a whole map view at once, and one that never is gets its even share. The buckets may be
// shared with other servers.
type bucketLimit struct {
	name      string
	perMinute int
	interval  time.Duration // between two requests at the steady rate; 0: no limit
	size      time.Duration // the bucket, as the time it takes to fill
	now       func() time.Time
	start     time.Time // times are counted from here, by the monotonic clock
	policy    []string  // the RateLimit-Policy field, shared by all answers
	prefix    string    // the start of every RateLimit field
	seed      maphash.Seed
	buckets   *buckets
	shared    *shared // nil: the limit is this server's own
	reserve   int     // how many tokens of a shared bucket may be held here in advance
}

func newBucketLimit(name string, perMinute int, now func() time.Time, s *shared) *bucketLimit {
	l := &bucketLimit{name: name, perMinute: perMinute, now: now, shared: s}
	if perMinute <= 0 {
		return l
	}
	l.interval = max(window/time.Duration(perMinute), 1)
	l.size = l.interval * time.Duration(perMinute)
	l.start = now()
	// Structured fields (RFC 9651) as draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4, uses them.
	l.policy = []string{`"` + name + `";q=` + strconv.Itoa(perMinute) + ";w=" + strconv.Itoa(int(window/time.Second))}
	l.prefix = `"` + name + `";r=`
	l.seed = maphash.MakeSeed() // a client that could predict its hash could choose whose bucket it shares
	l.buckets = new(buckets)
	if s != nil {
		l.reserve = perMinute / reserveShare
	}
	return l
}

// A grant is the outcome of one request for a token.
type grant struct {
	ok        bool
	remaining int64         // whole requests left
	wait      time.Duration // until there is one more
}

// takeFor takes one token for the client that sent r, if there is one.
func (l *bucketLimit) takeFor(client Client, r *http.Request) grant {
	var room [64]byte
	id := client.appendID(room[:0], r)
	hash := maphash.Bytes(l.seed, id)
	if l.shared == nil {
		return l.take(hash)
	}
	return l.takeShared(r.Context(), hash, id)
}

// take takes one token out of the bucket of the client with that hash, if there is one.
func (l *bucketLimit) take(client uint64) grant {
	set := l.buckets.setOf(client)
	set.mu.Lock()
	defer set.mu.Unlock()
	now := l.now().Sub(l.start) // not before the lock, or it could be earlier than a time that another request stored
	return l.spend(set.find(client, now, l.size), now)
}

// missing returns what b lacks of a full bucket, as the time that it takes to fill.
func (l *bucketLimit) missing(b *bucket, now time.Duration) time.Duration { return max(b.full-now, 0) }

// spend takes one token out of b, if there is one.
func (l *bucketLimit) spend(b *bucket, now time.Duration) grant {
	missing := l.missing(b, now)
	if missing > l.size-l.interval {
		return grant{wait: missing - (l.size - l.interval)}
	}
	missing += l.interval
	b.full = now + missing
	left := (l.size - missing) / l.interval
	return grant{ok: true, remaining: int64(left), wait: missing - (l.size - (left+1)*l.interval)}
}

// describe writes the RateLimit fields and returns their effective window: the whole seconds, at least one, until another
// request is granted. Retry-After must not end earlier than that (section 6 of the draft).
func (l *bucketLimit) describe(h http.Header, g grant) int64 {
	seconds := max(int64((g.wait+time.Second-1)/time.Second), 1)
	buf := make([]byte, 0, 48)
	buf = append(buf, l.prefix...)
	buf = strconv.AppendInt(buf, g.remaining, 10)
	buf = append(buf, ";t="...)
	buf = strconv.AppendInt(buf, seconds, 10)
	h["Ratelimit"] = append(h["Ratelimit"], string(buf))
	if earlier := h["Ratelimit-Policy"]; len(earlier) > 0 {
		h["Ratelimit-Policy"] = append(earlier[:len(earlier):len(earlier)], l.policy[0])
	} else {
		h["Ratelimit-Policy"] = l.policy
	}
	return seconds
}
