package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data/apikey"
)

// fakeKeys is a store of keys that counts how often it is read and can fail.
type fakeKeys struct {
	keys  []apikey.Key
	err   error
	reads int
}

func (f *fakeKeys) Keys(context.Context) ([]apikey.Key, error) {
	f.reads++
	return f.keys, f.err
}

func apiKey(name, text string) apikey.Key {
	return apikey.Key{Name: name, Hash: sha256.Sum256([]byte(text)), Scopes: apikey.ScopeMonitor}
}

// monitorAccess is what the monitoring endpoint asks for.
var monitorAccess = access{scope: apikey.ScopeMonitor, headers: apiKeyHeader}

// sayName answers with the name of the key.
var sayName = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Name", keyName(r)) })

func keyed(keys ...string) *http.Request {
	r := httptest.NewRequest("GET", "/api/v1/monitor/lakes", nil)
	r.Header["X-Api-Key"] = keys
	return r
}

func TestRequire(t *testing.T) {
	c := newClock()
	expired, expiring, revoked := apiKey("expired", "e"), apiKey("expiring", "x"), apiKey("revoked", "r")
	expired.ExpiresAt = c.now()
	expiring.ExpiresAt = c.now().Add(time.Second)
	revoked.RevokedAt = c.now().Add(-time.Hour)
	long := strings.Repeat("l", maxKeyLength+1)
	k := newKeyring(&fakeKeys{keys: []apikey.Key{apiKey("agency", "secret"), expired, expiring, revoked, apiKey("long", long), apiKey("empty", "")}}, c.now)
	h := k.require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)

	for header, name := range map[string]string{"secret": "agency", "x": "expiring"} {
		resp := serve(t, h, keyed(header))
		if resp.StatusCode != 200 || resp.Header.Get("X-Name") != name {
			t.Errorf("key %q: status %d, name %q, want 200, %q", header, resp.StatusCode, resp.Header.Get("X-Name"), name)
		}
	}

	hash := sha256.Sum256([]byte("secret"))
	var first map[string]any
	for name, r := range map[string]*http.Request{
		"missing": keyed(), "empty": keyed(""), "unknown": keyed("other"), "expired": keyed("e"), "revoked": keyed("r"),
		"over-long": keyed(long), "two": keyed("secret", "secret"), "the hash": keyed(hex.EncodeToString(hash[:])),
	} {
		resp := serve(t, h, r)
		if resp.StatusCode != 401 {
			t.Errorf("%s key: status = %d, want 401", name, resp.StatusCode)
			continue
		}
		if got, want := resp.Header.Get("WWW-Authenticate"), `ApiKey realm="limnomap"`; got != want {
			t.Errorf("%s key: WWW-Authenticate = %q, want %q", name, got, want)
		}
		body := decodeProblem(t, resp)
		if first == nil {
			first = body
		}
		if !reflect.DeepEqual(body, first) {
			t.Errorf("%s key: answer %v differs from %v", name, body, first)
		}
	}
}

func TestKeyringReadsSeldom(t *testing.T) {
	c := newClock()
	store := &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}
	h := newKeyring(store, c.now).require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)
	for range 100 {
		serve(t, h, keyed("secret"))
		serve(t, h, keyed("wrong"))
	}
	if store.reads != 1 {
		t.Errorf("200 requests at one time read the store %d times, want once", store.reads)
	}
	store.keys[0].RevokedAt = c.now()
	c.pass(keysEvery)
	if resp := serve(t, h, keyed("secret")); resp.StatusCode != 401 {
		t.Errorf("revoked key after %s: status = %d, want 401", keysEvery, resp.StatusCode)
	}
}

func TestKeyringOutage(t *testing.T) {
	c := newClock()
	store := &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}
	k := newKeyring(store, c.now)
	var log bytes.Buffer
	k.log = slog.New(slog.NewTextHandler(&log, nil))
	h := k.require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)
	serve(t, h, keyed("secret"))

	store.err = errors.New("disk /dev/sdz is gone")
	for elapsed := keysEvery; elapsed <= keysKept; elapsed += keysEvery {
		c.pass(keysEvery)
		if resp := serve(t, h, keyed("secret")); resp.StatusCode != 200 {
			t.Fatalf("%s into an outage: status = %d, want 200", elapsed, resp.StatusCode)
		}
	}
	c.pass(keysEvery)
	resp := serve(t, h, keyed("secret"))
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("after %s: status %d, Retry-After %q, want 503 with one", keysKept, resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	if detail := decodeProblem(t, resp)["detail"].(string); strings.Contains(detail, "sdz") {
		t.Errorf("detail %q shows internals", detail)
	}
	if got := strings.Count(log.String(), "level=ERROR"); got != 1 {
		t.Errorf("the outage was logged %d times, want once:\n%s", got, &log)
	}

	store.err = nil
	c.pass(keysEvery)
	if resp := serve(t, h, keyed("secret")); resp.StatusCode != 200 {
		t.Errorf("after the outage: status = %d, want 200", resp.StatusCode)
	}
	if !strings.Contains(log.String(), "works again") {
		t.Errorf("the end of the outage was not logged:\n%s", &log)
	}
}

// Should the clock be set back where it is not monotonic, the list is read again, and a key that is revoked meanwhile is
// refused as ever; while the store fails, a list of which nobody knows how old it is lets nobody in.
func TestKeyringWhenTheClockIsSetBack(t *testing.T) {
	for _, back := range []time.Duration{time.Nanosecond, time.Hour, 1000 * time.Hour} {
		c := newClock()
		store := &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret"), apiKey("other", "sesame")}}
		h := newKeyring(store, c.now).require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)
		serve(t, h, keyed("secret"))
		store.keys[0].RevokedAt = c.now()
		c.pass(-back)
		if resp := serve(t, h, keyed("secret")); resp.StatusCode != 401 {
			t.Errorf("revoked, then %v back: status = %d, want 401", back, resp.StatusCode)
		}
		if resp := serve(t, h, keyed("sesame")); resp.StatusCode != 200 {
			t.Errorf("another key, %v back: status = %d, want 200", back, resp.StatusCode)
		}
		store.err = errors.New("down")
		c.pass(-back)
		if resp := serve(t, h, keyed("sesame")); resp.StatusCode != 503 {
			t.Errorf("the store down and %v back: status = %d, want 503", back, resp.StatusCode)
		}
		store.err = nil
		c.pass(keysEvery)
		if resp := serve(t, h, keyed("sesame")); resp.StatusCode != 200 {
			t.Errorf("the store up again, %v back: status = %d, want 200", back, resp.StatusCode)
		}
		if resp := serve(t, h, keyed("secret")); resp.StatusCode != 401 {
			t.Errorf("the store up again, %v back: the revoked key gets %d, want 401", back, resp.StatusCode)
		}
	}
}

func TestKeyringNeverRead(t *testing.T) {
	h := newKeyring(&fakeKeys{err: errors.New("down")}, newClock().now).require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)
	if resp := serve(t, h, keyed("secret")); resp.StatusCode != 503 {
		t.Errorf("status = %d, want 503", resp.StatusCode)
	}
}

// blockingKeys answers when it is let, or when its context ends.
type blockingKeys struct {
	entered chan struct{}
	release chan []apikey.Key
}

func (b *blockingKeys) Keys(ctx context.Context) ([]apikey.Key, error) {
	b.entered <- struct{}{}
	select {
	case keys := <-b.release:
		return keys, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// While one request reads the list, the others are answered from the last one, until that is too old.
func TestKeyringDoesNotBlock(t *testing.T) {
	c := newClock()
	store := &blockingKeys{entered: make(chan struct{}, 1), release: make(chan []apikey.Key, 1)}
	keys := []apikey.Key{apiKey("agency", "secret")}
	store.release <- keys
	h := newKeyring(store, c.now).require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)
	serve(t, h, keyed("secret"))
	<-store.entered

	c.pass(keysEvery)
	done := make(chan struct{})
	go func() { // ends when release is sent below
		defer close(done)
		serve(t, h, keyed("secret"))
	}()
	<-store.entered
	if resp := serve(t, h, keyed("secret")); resp.StatusCode != 200 {
		t.Errorf("during a reading: status = %d, want 200", resp.StatusCode)
	}
	c.pass(keysWait - keysEvery)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if resp := serve(t, h, keyed("secret").WithContext(ctx)); resp.StatusCode != 503 {
		t.Errorf("a client that left while it had to wait: status = %d, want 503", resp.StatusCode)
	}
	store.release <- keys
	<-done
}

// A moodyStore answers after some time, and may fail.
type moodyStore struct {
	mu    sync.Mutex
	keys  []apikey.Key // guarded by mu
	reads int          // guarded by mu
	takes time.Duration
	fails func(read int) bool
}

func (m *moodyStore) Keys(ctx context.Context) ([]apikey.Key, error) {
	m.mu.Lock()
	keys := slices.Clone(m.keys) // what is committed later is not among it
	m.reads++
	fails := m.fails(m.reads)
	m.mu.Unlock()
	select {
	case <-time.After(m.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if fails {
		return nil, errors.New("down")
	}
	return keys, nil
}

// Whatever the store does, a revoked key works for 15 seconds at most, and nobody waits for longer than a reading of the
// list may take.
func TestARevokedKeyIsRefusedSoon(t *testing.T) {
	never := func(int) bool { return false }
	for _, tt := range []struct {
		name  string
		takes time.Duration
		fails func(read int) bool
		soon  time.Duration
	}{
		{"quick store", 0, never, keysEvery},
		{"slow store", keysTimeout - 1, never, keysEvery + keysTimeout},
		{"store that fails now and then", time.Second, func(read int) bool { return read%3 != 0 }, 15 * time.Second},
		{"store that fails for ever", time.Second, func(read int) bool { return read > 6 }, 15 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &moodyStore{keys: []apikey.Key{apiKey("agency", "secret")}, takes: tt.takes, fails: tt.fails}
				h := newKeyring(store, time.Now).require(monitorAccess, http.HandlerFunc(unauthorized))(sayName)
				start := time.Now()
				revokedAt := start.Add(30*time.Second + time.Millisecond)
				var mu sync.Mutex
				var accepted, longest time.Duration // after the revocation, and the longest wait; guarded by mu
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() { // ends after two minutes of the test's own time
						time.Sleep(time.Duration(i) * 7 * time.Millisecond)
						for time.Since(start) < 2*time.Minute {
							asked := time.Now()
							w := httptest.NewRecorder()
							h.ServeHTTP(w, keyed("secret"))
							mu.Lock()
							longest = max(longest, time.Since(asked))
							if w.Code == http.StatusOK {
								accepted = max(accepted, time.Since(revokedAt))
							}
							mu.Unlock()
							time.Sleep(50 * time.Millisecond)
						}
					})
				}
				time.Sleep(time.Until(revokedAt))
				store.mu.Lock()
				store.keys[0].RevokedAt = time.Now()
				store.mu.Unlock()
				wg.Wait()
				if accepted <= 0 || accepted > tt.soon {
					t.Errorf("accepted for the last time %v after it was revoked, want %v at most", accepted, tt.soon)
				}
				if longest > 2*keysTimeout {
					t.Errorf("a request waited for %v, want %v at most", longest, 2*keysTimeout)
				}
				if most := int(2*time.Minute/keysEvery) + 1; store.reads > most {
					t.Errorf("the store was read %d times, want %d at most", store.reads, most)
				}
			})
		})
	}
}

// Failed authentications spend from their address's bucket; the holder of a key behind the same address does not.
func TestRequireLimitsFailures(t *testing.T) {
	c := newClock()
	k := newKeyring(&fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}, c.now)
	failures := newLimiter("auth", 2, c.now)
	h := k.require(monitorAccess, failures.limit(addressKey)(http.HandlerFunc(unauthorized)))(sayName)
	for i, want := range []int{401, 401, 429, 429} {
		if resp := serve(t, h, keyed("guess")); resp.StatusCode != want {
			t.Errorf("guess %d: status = %d, want %d", i, resp.StatusCode, want)
		}
	}
	if resp := serve(t, h, keyed("secret")); resp.StatusCode != 200 {
		t.Errorf("the right key behind the same address: status = %d, want 200", resp.StatusCode)
	}
}
