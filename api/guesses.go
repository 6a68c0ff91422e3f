package api

import (
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"limnomap/api/answer"
)

// A refusal is why a request to a keyed endpoint was refused.
type refusal uint8

const (
	refusedMissing   refusal = iota // no key at all
	refusedWrong                    // an unknown, revoked or expired one
	refusedThrottled                // a wrong one, after too many of its address
	refusedScope                    // a valid one that does not open this
)

// refusalNames are the values of a metric's label.
var refusalNames = [...]string{
	refusedMissing: "missing", refusedWrong: "wrong", refusedThrottled: "throttled", refusedScope: "scope",
}

const (
	// freeGuesses is how many wrong keys an address may try before it has to wait: a person who copies a key by hand, or a
	// program that still has the former key, is not to be punished for the first of them.
	freeGuesses = 10
	// firstGuessWait is the first wait; each further wrong key doubles it, up to longestGuessWait.
	firstGuessWait   = time.Second
	longestGuessWait = 15 * time.Minute
	// guessesForgotten is how long after its last counted try an address is as good as new.
	guessesForgotten = time.Hour
	// maxGuessers bounds how many addresses are remembered, at some 200 bytes each. Whoever has more of them than that
	// tries ten keys from each, which is nothing beside the 2^128 keys there are.
	maxGuessers = 16384
	// guessLines is how many lines a second the log may get of waits.
	guessLines = 5
)

// guesses slow down who tries wrong keys, by growing waits per client address. Whoever bears a right key is let in
// before anybody asks here, so that nobody can lock out the others behind his address; so it is the keys' length that
// keeps them from being guessed, and what is slowed down is the load on the log and the noise in the metrics, while an
// attempt becomes plain to see. It is safe for concurrent use, and each server's own.
type guesses struct {
	now     func() time.Time
	start   time.Time // moments are counted from here, by the monotonic clock
	log     *slog.Logger
	quota   *logQuota
	refused func(refusal)

	mu       sync.Mutex
	guessers *simplelru.LRU[string, guesser] // by what addrBytes returns; guarded by mu
}

// A guesser is an address from which wrong keys came.
type guesser struct {
	tries int           // those that were counted
	last  time.Duration // when the last of them came
	until time.Duration // until when the next ones are refused unseen
}

func newGuesses(now func() time.Time, log *slog.Logger, refused func(refusal)) *guesses {
	g := &guesses{now: now, start: now(), log: log, refused: refused, quota: &logQuota{start: now()}}
	g.quota.perSecond.Store(guessLines)
	g.guessers, _ = simplelru.NewLRU[string, guesser](maxGuessers, nil) // fails only for a size of none
	return g
}

// damp answers who bore a wrong key, by the values of its header, and has to wait; the others it leaves to next, which
// refuses them too.
func (g *guesses) damp(headers func(*http.Request) []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !bears(headers(r)) {
			g.refused(refusedMissing)
			next.ServeHTTP(w, r)
			return
		}
		wait, ok := g.try(r)
		if ok {
			g.refused(refusedWrong)
			next.ServeHTTP(w, r)
			return
		}
		g.refused(refusedThrottled)
		seconds := strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
		answer.WriteProblem(w, r, &answer.Problem{
			Status: http.StatusTooManyRequests,
			Detail: "Too many wrong API keys came from this address. Try again after " + seconds + " s; a valid key is let in at once.",
			Header: http.Header{"Retry-After": {seconds}},
		})
	})
}

// bears reports whether a header says anything: what is empty is no guess.
func bears(values []string) bool {
	for _, v := range values {
		if v != "" {
			return true
		}
	}
	return false
}

// try counts a wrong key from r's client, unless it has to wait still, and says how long.
func (g *guesses) try(r *http.Request) (wait time.Duration, ok bool) {
	var b [16]byte
	client := string(addrBytes(&b, addrOf(r)))
	wait, tries, ok := g.count(client)
	if !ok || wait == 0 {
		return wait, ok
	}
	if logged, leftOut := g.quota.take(g.now()); logged {
		attrs := []slog.Attr{slog.String("client", addrOf(r).String()), slog.Int("tries", tries), slog.Duration("wait", wait)}
		if leftOut > 0 {
			attrs = append(attrs, slog.Int64("left_out", leftOut))
		}
		g.log.LogAttrs(r.Context(), slog.LevelWarn, "too many wrong API keys from one address", attrs...)
	}
	return 0, true
}

// count notes a try of the client. Where it is counted, wait is what the client has to wait from now on; otherwise what
// is left of that.
func (g *guesses) count(client string) (wait time.Duration, tries int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now().Sub(g.start)
	e, known := g.guessers.Get(client)
	// What lies further ahead than any wait was written before the clock was set back.
	if !known || now-e.last > guessesForgotten || e.until > now+longestGuessWait {
		e = guesser{until: now}
	}
	if now < e.until {
		return e.until - now, e.tries, false
	}
	e.tries, e.last = e.tries+1, now
	if over := e.tries - freeGuesses; over >= 0 {
		wait = longestGuessWait
		if over < 20 { // beyond which the shift says nothing that the bound does not
			wait = min(firstGuessWait<<over, longestGuessWait)
		}
		e.until = now + wait
	}
	g.guessers.Add(client, e)
	return wait, e.tries, true
}
