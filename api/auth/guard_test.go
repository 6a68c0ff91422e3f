package auth

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/api/answer"
	"limnomap/api/apitest"
	"limnomap/data/apikey"
)

func TestRequire(t *testing.T) {
	c := apitest.NewClock()
	expired, expiring, revoked := apiKey("expired", "e"), apiKey("expiring", "x"), apiKey("revoked", "r")
	expired.ExpiresAt = c.Now()
	expiring.ExpiresAt = c.Now().Add(time.Second)
	revoked.RevokedAt = c.Now().Add(-time.Hour)
	long := strings.Repeat("l", maxKeyLength+1)
	h := monitoring(newKeyring(&fakeKeys{keys: []apikey.Key{apiKey("agency", "secret"), expired, expiring, revoked, apiKey("long", long), apiKey("empty", "")}}, c.Now))

	for header, name := range map[string]string{"secret": "agency", "x": "expiring"} {
		resp := apitest.Serve(t, h, keyed(header))
		if resp.StatusCode != 200 || resp.Header.Get("X-Name") != name {
			t.Errorf("key %q: status %d, name %q, want 200, %q", header, resp.StatusCode, resp.Header.Get("X-Name"), name)
		}
	}

	hash := apikey.HashOf("secret")
	var first map[string]any
	for name, r := range map[string]*http.Request{
		"missing": keyed(), "empty": keyed(""), "unknown": keyed("other"), "expired": keyed("e"), "revoked": keyed("r"),
		"over-long": keyed(long), "two": keyed("secret", "secret"), "the hash": keyed(hex.EncodeToString(hash[:])),
	} {
		resp := apitest.Serve(t, h, r)
		if resp.StatusCode != 401 {
			t.Errorf("%s key: status = %d, want 401", name, resp.StatusCode)
			continue
		}
		if got, want := resp.Header.Get("WWW-Authenticate"), `ApiKey realm="limnomap"`; got != want {
			t.Errorf("%s key: WWW-Authenticate = %q, want %q", name, got, want)
		}
		body := apitest.Problem(t, resp)
		if first == nil {
			first = body
		}
		if !reflect.DeepEqual(body, first) {
			t.Errorf("%s key: answer %v differs from %v", name, body, first)
		}
	}
}

// Requests without a valid key are limited by their address; a key holder behind the same address is not.
func TestRefusedRequestsAreLimited(t *testing.T) {
	c := apitest.NewClock()
	left := 2
	k := configured(Config{
		Store: &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}},
		LimitRefused: func(w http.ResponseWriter, r *http.Request) bool {
			if left == 0 {
				answer.WriteProblem(w, r, &answer.Problem{Status: http.StatusTooManyRequests})
				return false
			}
			left--
			return true
		},
		Now: c.Now,
	})
	h := monitoring(k)
	for i, want := range []int{401, 401, 429, 429} {
		if resp := apitest.Serve(t, h, keyed("guess")); resp.StatusCode != want {
			t.Errorf("wrong key %d: status = %d, want %d", i, resp.StatusCode, want)
		}
	}
	if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 200 {
		t.Errorf("the right key behind the same address: status = %d, want 200", resp.StatusCode)
	}
}

// Each refused request is counted by its reason. A key without the scope counts against the limit of the key.
func TestRefusedRequestsAreCounted(t *testing.T) {
	allowed, keyRequests := true, 0
	metrics := apiKey("metrics", "m")
	metrics.Scopes = apikey.ScopeMetrics
	reg := prometheus.NewRegistry()
	h := monitoring(configured(Config{
		Store:        &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret"), metrics}},
		LimitRefused: func(http.ResponseWriter, *http.Request) bool { return allowed },
		LimitKeys: func(_ http.ResponseWriter, r *http.Request) bool {
			if answer.KeyName(r) == "" {
				t.Error("the limit of keys does not know the name of the key")
			}
			keyRequests++
			return true
		},
		Now:        apitest.NewClock().Now,
		Registerer: reg,
	}))
	for _, r := range []*http.Request{keyed(), keyed(""), keyed("guess"), keyed("a", "b"), keyed("guess"), keyed("m"), keyed("secret")} {
		apitest.Serve(t, h, r)
	}
	allowed = false
	apitest.Serve(t, h, keyed("guess"))
	apitest.Serve(t, h, keyed())
	want := `
# HELP limnomap_key_refused_total Requests to endpoints that need a key that were refused: without a key (missing), with an unknown, revoked or expired one (wrong), either of these beyond the limit of their address (throttled), or with a key that lacks the scope (scope).
# TYPE limnomap_key_refused_total counter
limnomap_key_refused_total{reason="missing"} 2
limnomap_key_refused_total{reason="scope"} 1
limnomap_key_refused_total{reason="throttled"} 2
limnomap_key_refused_total{reason="wrong"} 3
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if keyRequests != 2 {
		t.Errorf("%d requests counted against the limit of their key, want 2", keyRequests)
	}
}

// A list that is too old serves only the endpoints that ask for that.
func TestUseStaleKeys(t *testing.T) {
	c := apitest.NewClock()
	store := &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}
	k := newKeyring(store, c.Now)
	stale := k.Require(Access{Scope: apikey.ScopeMonitor, Header: HeaderKey, UseStaleKeys: true})(apitest.OK)
	store.err = http.ErrServerClosed
	if resp := apitest.Serve(t, stale, keyed("secret")); resp.StatusCode != 503 {
		t.Errorf("before the first list: status = %d, want 503", resp.StatusCode)
	}
	store.err = nil
	c.Advance(keysEvery)
	apitest.Serve(t, stale, keyed("secret"))
	store.err = http.ErrServerClosed
	c.Advance(time.Hour)
	for want, h := range map[int]http.Handler{200: stale, 503: monitoring(k)} {
		if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != want {
			t.Errorf("an hour after the store failed: status = %d, want %d", resp.StatusCode, want)
		}
	}
}

func TestHeaderOrBearerKey(t *testing.T) {
	for _, tt := range []struct {
		header http.Header
		want   []string
	}{
		{http.Header{}, nil},
		{http.Header{"X-Api-Key": {"k"}, "Authorization": {"Bearer b"}}, []string{"k"}},
		{http.Header{"Authorization": {"Bearer b"}}, []string{"b"}},
		{http.Header{"Authorization": {"bearer b"}}, []string{"b"}},
		{http.Header{"Authorization": {"Bearer "}}, nil},
		{http.Header{"Authorization": {"Basic b"}}, nil},
		{http.Header{"Authorization": {"Bearer a", "Bearer b"}}, nil},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header = tt.header
		if got := HeaderOrBearerKey(r); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("HeaderOrBearerKey(%v) = %q, want %q", tt.header, got, tt.want)
		}
	}
}

// Only the key itself is accepted, whatever else the header contains.
func FuzzKeyHeaders(f *testing.F) {
	for _, seed := range []string{"", "secret", "Secret", " secret", "secret,secret", "Bearer secret", "bearer  secret", "Basic secret", strings.Repeat("x", maxKeyLength+1)} {
		f.Add(seed, seed, seed)
	}
	now := time.Unix(1e9, 0)
	k := newKeyring(&fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}, func() time.Time { return now })
	var accepted bool
	h := k.Require(Access{Scope: apikey.ScopeMonitor, Header: HeaderOrBearerKey})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { accepted = true }))
	f.Fuzz(func(t *testing.T, key, second, authorization string) {
		r := httptest.NewRequest("GET", "/metrics", nil)
		if key != "" {
			r.Header["X-Api-Key"] = []string{key}
		}
		if second != "" {
			r.Header["X-Api-Key"] = append(r.Header["X-Api-Key"], second)
		}
		r.Header["Authorization"] = []string{authorization}
		accepted = false
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		given := r.Header["X-Api-Key"]
		want := len(given) == 1 && given[0] == "secret" ||
			given == nil && len(authorization) == len("bearer secret") && strings.EqualFold(authorization[:7], "bearer ") && authorization[7:] == "secret"
		if accepted != want || !accepted && w.Code != http.StatusUnauthorized {
			t.Fatalf("X-API-Key %q, Authorization %q: accepted %v, status %d, want %v", given, authorization, accepted, w.Code, want)
		}
	})
}
