package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data/apikey"
)

// from returns a request from that address with that key.
func from(addr, key string) *http.Request {
	r := keyed(key)
	r.RemoteAddr = addr
	return r
}

// damped returns a keyed handler that lets in the key secret, and its log and counters.
func damped(t *testing.T, c *clock) (h http.Handler, log *bytes.Buffer, m *metrics) {
	t.Helper()
	log = new(bytes.Buffer)
	m = newMetrics(prometheus.NewRegistry(), c.now)
	g := newGuesses(c.now, slog.New(slog.NewTextHandler(log, nil)), m.keyRefused)
	k := newKeyring(&fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}, c.now)
	k.refused = m.keyRefused
	return k.require(monitorAccess, g.damp(apiKeyHeader, http.HandlerFunc(unauthorized)))(sayName), log, m
}

const guesser1, guesser2 = "[2001:db8:1:2::3]:1000", "192.0.2.7:1000"

// After ten wrong keys each further one costs its address twice the wait of the one before, up to a quarter of an hour;
// asking meanwhile makes it no longer, and who bears a right key waits never.
func TestGuessesWaitLongerAndLonger(t *testing.T) {
	for _, addr := range []string{guesser1, guesser2} {
		c := newClock()
		h, log, m := damped(t, c)
		for i := range freeGuesses {
			if resp := serve(t, h, from(addr, fmt.Sprint("guess", i))); resp.StatusCode != 401 {
				t.Fatalf("%s: wrong key %d: status = %d, want 401", addr, i, resp.StatusCode)
			}
		}
		want := firstGuessWait
		for round := range 14 {
			for range 2 {
				resp := serve(t, h, from(addr, "guess"))
				if got := resp.Header.Get("Retry-After"); resp.StatusCode != 429 || got != strconv.Itoa(int(want/time.Second)) {
					t.Fatalf("%s: round %d: status %d, Retry-After %s, want 429, %v", addr, round, resp.StatusCode, got, want)
				}
				if detail := decodeProblem(t, resp)["detail"].(string); strings.Contains(detail, "guess") {
					t.Errorf("detail = %q, which repeats the key", detail)
				}
			}
			if resp := serve(t, h, from(addr, "secret")); resp.StatusCode != 200 {
				t.Errorf("%s: round %d: the right key: status = %d, want 200", addr, round, resp.StatusCode)
			}
			if resp := serve(t, h, from("192.0.2.99:1", "guess")); round == 0 && resp.StatusCode != 401 {
				t.Errorf("%s: another address: status = %d, want 401", addr, resp.StatusCode)
			}
			noKey := keyed()
			noKey.RemoteAddr = addr
			if resp := serve(t, h, noKey); resp.StatusCode != 401 {
				t.Errorf("%s: without a key: status = %d, want 401: that is no guess", addr, resp.StatusCode)
			}
			c.pass(want)
			if resp := serve(t, h, from(addr, "guess")); resp.StatusCode != 401 {
				t.Errorf("%s: round %d, after the wait: status = %d, want 401", addr, round, resp.StatusCode)
			}
			want = min(2*want, longestGuessWait)
		}
		if want != longestGuessWait {
			t.Errorf("the wait has grown to %v only", want)
		}
		// The waits together are longer than it takes to forget; what counts is the last try.
		c.pass(guessesForgotten + 1)
		for range freeGuesses {
			if resp := serve(t, h, from(addr, "guess")); resp.StatusCode != 401 {
				t.Errorf("%s: an hour later: status = %d, want 401", addr, resp.StatusCode)
			}
		}
		if text := log.String(); !strings.Contains(text, "too many wrong API keys from one address") || !strings.Contains(text, "tries=10 wait=1s") ||
			strings.Contains(text, "guess") || strings.Contains(text, "secret") {
			t.Errorf("log:\n%s\nwant the waits and no key", text)
		}
		for why, want := range map[refusal]float64{refusedMissing: 14, refusedThrottled: 28, refusedWrong: 2*freeGuesses + 2*14, refusedScope: 0} {
			if got := testutil.ToFloat64(m.refusals[why]); got != want {
				t.Errorf("%s: refused for %s: %v, want %v", addr, refusalNames[why], got, want)
			}
		}
	}
}

// A household has all of a /64, and no more than that.
func TestGuessesCountANetwork(t *testing.T) {
	h, _, _ := damped(t, newClock())
	for i := range freeGuesses {
		serve(t, h, from(fmt.Sprintf("[2001:db8:1:2::%x]:1", i), "guess"))
	}
	for addr, want := range map[string]int{"[2001:db8:1:2:ffff::]:1": 429, "[2001:db8:1:3::1]:1": 401} {
		if resp := serve(t, h, from(addr, "guess")); resp.StatusCode != want {
			t.Errorf("%s: status = %d, want %d", addr, resp.StatusCode, want)
		}
	}
}

// However many addresses guess, no more than so many are remembered, and the log gets so many lines.
func TestGuessesAreBounded(t *testing.T) {
	c := newClock()
	h, log, _ := damped(t, c)
	w := discard{header: make(http.Header)}
	for i := range maxGuessers / 8 {
		for range freeGuesses { // up to the line of the log
			clear(w.header)
			h.ServeHTTP(w, from(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), "guess"))
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != guessLines {
		t.Errorf("%d addresses wrote %d lines in one second, want %d", maxGuessers/8, lines, guessLines)
	}
	g := newGuesses(c.now, slog.New(slog.DiscardHandler), func(refusal) {})
	for i := range 3 * maxGuessers {
		g.count(fmt.Sprint(i))
	}
	if got := g.guessers.Len(); got != maxGuessers {
		t.Errorf("%d addresses are remembered, want %d", got, maxGuessers)
	}
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// A clock that is set back locks nobody in for longer than the longest wait.
func TestGuessesWhenTheClockIsSetBack(t *testing.T) {
	c := newClock()
	h, _, _ := damped(t, c)
	for range freeGuesses {
		serve(t, h, from(guesser2, "guess"))
	}
	c.pass(-24 * time.Hour)
	if resp := serve(t, h, from(guesser2, "guess")); resp.StatusCode != 401 {
		t.Errorf("status = %d, want 401", resp.StatusCode)
	}
}
