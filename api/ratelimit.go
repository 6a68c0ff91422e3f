package api

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"limnomap/api/answer"
)

// limitWindow is the time over which a rate is given.
const limitWindow = time.Minute

// A limiter grants each client a number of requests per minute, from a bucket that holds one minute's worth and fills
// steadily: a client that was quiet may load a whole map view at once, and one that never is gets its even share. The
// bucket may be one that other servers take from too. It is safe for concurrent use.
type limiter struct {
	name      string
	perMinute int
	interval  time.Duration // between two requests at the steady rate; 0: no limit
	size      time.Duration // the bucket, as the time it takes to fill
	now       func() time.Time
	start     time.Time // moments are counted from here, by the monotonic clock
	policy    []string  // the RateLimit-Policy field, shared by all answers
	prefix    string    // what every RateLimit field starts with
	refused   func()    // told of each 429; set before the first request
	seed      maphash.Seed
	buckets   *buckets
	sharing   *sharing // nil: the limit is this server's own
	reserve   int      // how many tokens of a shared bucket may be held here in advance
}

// newLimiter returns a limiter of so many requests per minute and key; 0 or less lets everything pass. The name is
// that of the policy in the answers, and has to be printable ASCII without quotes and backslashes.
func newLimiter(name string, perMinute int, now func() time.Time) *limiter {
	l := &limiter{name: name, perMinute: perMinute, now: now, refused: func() {}}
	if perMinute <= 0 {
		return l
	}
	l.interval = max(limitWindow/time.Duration(perMinute), 1)
	l.size = l.interval * time.Duration(perMinute)
	l.start = now()
	// Structured fields (RFC 9651) as draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4, uses them.
	l.policy = []string{`"` + name + `";q=` + strconv.Itoa(perMinute) + ";w=" + strconv.Itoa(int(limitWindow/time.Second))}
	l.prefix = `"` + name + `";r=`
	l.seed = maphash.MakeSeed() // a client that could foresee its key could choose whose bucket it shares
	l.buckets = new(buckets)
	return l
}

// A grant is the outcome of one request for one token.
type grant struct {
	ok        bool
	remaining int64         // whole requests left
	wait      time.Duration // until there is one more
}

// take takes one token out of the bucket of the client with that key, if there is one.
func (l *limiter) take(key uint64) grant {
	set := l.buckets.setOf(key)
	set.mu.Lock()
	defer set.mu.Unlock()
	now := l.now().Sub(l.start) // not before the lock, or it could be earlier than what another request has noted
	return l.spend(set.find(key, now, l.size), now)
}

// missing returns what b lacks of a full bucket, as the time that it takes to fill.
func (l *limiter) missing(b *bucket, now time.Duration) time.Duration { return max(b.full-now, 0) }

// spend takes one token out of b, if there is one.
func (l *limiter) spend(b *bucket, now time.Duration) grant {
	missing := l.missing(b, now)
	if missing > l.size-l.interval {
		return grant{wait: missing - (l.size - l.interval)}
	}
	missing += l.interval
	b.full = now + missing
	left := (l.size - missing) / l.interval
	return grant{ok: true, remaining: int64(left), wait: missing - (l.size - (left+1)*l.interval)}
}

// A clientKey tells by which key a limiter knows the client that sent r: among its own buckets a hash under the
// limiter's own seed, among those that servers share a name that all of them give it.
type clientKey struct {
	hash func(seed maphash.Seed, r *http.Request) uint64
	name func(r *http.Request) string
}

// limit lets at most the limiter's rate pass for each client, and says in every answer what is left. Several limits may
// stand around one handler; each adds its own item to the fields, which are lists.
func (l *limiter) limit(key clientKey) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.pass(w, r, key, next) })
	}
}

// pass has next answer r if its client's bucket has a token for it, and refuses it otherwise.
func (l *limiter) pass(w http.ResponseWriter, r *http.Request, key clientKey, next http.Handler) {
	if l.interval == 0 {
		next.ServeHTTP(w, r)
		return
	}
	g := l.grant(key, r)
	h := w.Header()
	if info := answer.InfoOf(r); info != nil && h["Ratelimit"] == nil {
		h["Ratelimit"] = info.RateLimit[:0]
	}
	seconds := l.describe(h, g)
	if g.ok {
		next.ServeHTTP(w, r)
		return
	}
	l.refused()
	answer.WriteProblem(w, r, &answer.Problem{
		Status: http.StatusTooManyRequests,
		Detail: "Too many requests under the limit " + l.policy[0] + ". Try again after " + strconv.FormatInt(seconds, 10) + " s.",
		Header: http.Header{"Retry-After": {strconv.FormatInt(seconds, 10)}},
	})
}

// grant takes one token for the client that sent r, if there is one.
func (l *limiter) grant(key clientKey, r *http.Request) grant {
	hash := key.hash(l.seed, r)
	if l.sharing == nil {
		return l.take(hash)
	}
	return l.takeShared(r.Context(), hash, func() string { return key.name(r) })
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

var (
	// addressKey is the key of a limit per client address.
	addressKey = clientKey{
		hash: func(seed maphash.Seed, r *http.Request) uint64 { return hashAddr(seed, addrOf(r)) },
		name: func(r *http.Request) string {
			var b [16]byte
			return string(addrBytes(&b, addrOf(r)))
		},
	}
	// nameKey is the key of a limit per API key.
	nameKey = clientKey{
		hash: func(seed maphash.Seed, r *http.Request) uint64 { return maphash.String(seed, keyName(r)) },
		name: keyName,
	}
)

// hashAddr returns the hash of what stands for a client in a limit.
func hashAddr(seed maphash.Seed, a netip.Addr) uint64 {
	var b [16]byte
	return maphash.Bytes(seed, addrBytes(&b, a))
}

// addrBytes returns, within b, what stands for a client in a limit: an IPv4 address, or the /64 of an IPv6 one, because
// a single household is handed all of a /64 (RFC 6177) and could change its address with each request. Clients without
// an address are one.
func addrBytes(b *[16]byte, a netip.Addr) []byte {
	switch {
	case a.Is4(), a.Is4In6():
		v4 := a.As4()
		return b[:copy(b[:], v4[:])]
	case a.Is6():
		*b = a.As16()
		return b[:8]
	}
	return nil
}
