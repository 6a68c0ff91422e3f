package api

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// limitShards is how many locks the keys are spread over; many more than the processors of a server.
	limitShards = 64
	// limitShardKeys bounds the keys of a shard. All shards together keep the 65,536 keys that asked last, some
	// 10 MB; whoever commands more addresses than that gains nothing from being forgotten.
	limitShardKeys = 1024
	// limitWindow is the time over which a rate is given.
	limitWindow = time.Minute
)

// A limiter grants each key a number of requests per minute, from a bucket that holds one minute's worth and fills
// steadily: a client that was quiet may load a whole map view at once, and one that never is gets its even share. The
// bucket is kept as the generic cell rate algorithm keeps it (ITU-T I.371, annex A), as the one moment when it will
// be full again. It is safe for concurrent use.
type limiter struct {
	name     string
	interval time.Duration // between two requests at the steady rate; 0: no limit
	size     time.Duration // the bucket, as the time it takes to fill
	now      func() time.Time
	start    time.Time // moments are counted from here, by the monotonic clock
	policy   []string  // the RateLimit-Policy field, shared by all answers
	prefix   string    // what every RateLimit field starts with
	refused  func()    // told of each 429; set before the first request
	seed     maphash.Seed
	shards   [limitShards]limitShard
}

type limitShard struct {
	mu sync.Mutex
	// full is, by key, the moment at which its bucket is full. Guarded by mu. A key that is not there is full.
	full *simplelru.LRU[string, time.Duration]
}

// newLimiter returns a limiter of so many requests per minute and key; 0 or less lets everything pass. The name is
// that of the policy in the answers, and has to be printable ASCII without quotes and backslashes.
func newLimiter(name string, perMinute int, now func() time.Time) *limiter {
	l := &limiter{name: name, now: now, refused: func() {}}
	if perMinute <= 0 {
		return l
	}
	l.interval = max(limitWindow/time.Duration(perMinute), 1)
	l.size = l.interval * time.Duration(perMinute)
	l.start = now()
	// Structured fields (RFC 9651) as draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4, uses them.
	l.policy = []string{`"` + name + `";q=` + strconv.Itoa(perMinute) + ";w=" + strconv.Itoa(int(limitWindow/time.Second))}
	l.prefix = `"` + name + `";r=`
	l.seed = maphash.MakeSeed() // a client that could foresee its shard could push others out of it
	for i := range l.shards {
		lru, err := simplelru.NewLRU[string, time.Duration](limitShardKeys, nil)
		if err != nil {
			panic("api: a positive size is always accepted: " + err.Error())
		}
		l.shards[i].full = lru
	}
	return l
}

// A grant is the outcome of one request for one token.
type grant struct {
	ok        bool
	remaining int64         // whole requests left
	wait      time.Duration // until there is one more
}

// take takes one token out of the key's bucket, if there is one.
func (l *limiter) take(key string) grant {
	now := l.now().Sub(l.start)
	s := &l.shards[maphash.String(l.seed, key)%limitShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	full, _ := s.full.Get(key)
	missing := max(full-now, 0)
	if missing > l.size-l.interval {
		return grant{wait: missing - (l.size - l.interval)}
	}
	missing += l.interval
	s.full.Add(key, now+missing)
	left := (l.size - missing) / l.interval
	return grant{ok: true, remaining: int64(left), wait: missing - (l.size - (left+1)*l.interval)}
}

// limit lets at most the limiter's rate pass for each key, and says in every answer what is left. Several limits may
// stand around one handler; each adds its own item to the fields, which are lists.
func (l *limiter) limit(key func(*http.Request) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if l.interval == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g := l.take(key(r))
			h := w.Header()
			if rec := recordOf(r); rec != nil && h["Ratelimit"] == nil {
				h["Ratelimit"] = rec.limits[:0]
			}
			seconds := l.describe(h, g)
			if g.ok {
				next.ServeHTTP(w, r)
				return
			}
			l.refused()
			writeProblem(w, r, &problem{
				Status: http.StatusTooManyRequests,
				Detail: "Too many requests under the limit " + l.policy[0] + ". Try again after " + strconv.FormatInt(seconds, 10) + " s.",
				Header: http.Header{"Retry-After": {strconv.FormatInt(seconds, 10)}},
			})
		})
	}
}

// describe writes the RateLimit fields and returns their effective window, the whole seconds, at least one, until
// another request is granted. Retry-After must not end earlier than that window (section 6 of the draft).
func (l *limiter) describe(h http.Header, g grant) int64 {
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

// addressKey is the key of a limit per client address.
func addressKey(r *http.Request) string { return addrKey(addrOf(r)) }

// addrKey returns what stands for a client in a limit: an IPv4 address, or the /64 of an IPv6 one, because a single
// household is handed all of a /64 (RFC 6177) and could change its address with each request. Clients without an
// address share one key.
func addrKey(a netip.Addr) string {
	switch {
	case a.Is4(), a.Is4In6():
		b := a.As4()
		return string(b[:])
	case a.Is6():
		b := a.As16()
		return string(b[:8])
	}
	return ""
}
