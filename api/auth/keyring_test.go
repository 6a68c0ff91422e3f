package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api/answer"
	"limnomap/api/apitest"
	"limnomap/data/apikey"
)

// fakeKeys is a store that counts how often it is read, and can fail.
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
	return apikey.Key{Name: name, Hash: apikey.HashOf(text), Scopes: apikey.ScopeMonitor}
}

// newKeyring returns a keyring that allows any rate, and logs nothing.
func newKeyring(store Store, now func() time.Time) *Keyring {
	return configured(Config{Store: store, Now: now})
}

// configured returns a keyring with defaults for what c lacks.
func configured(c Config) *Keyring {
	anyRate := func(http.ResponseWriter, *http.Request) bool { return true }
	if c.LimitKeys == nil {
		c.LimitKeys = anyRate
	}
	if c.LimitRefused == nil {
		c.LimitRefused = anyRate
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return NewKeyring(c)
}

// monitoring requires a key for the monitoring endpoint, and answers with the name of the key.
func monitoring(k *Keyring) http.Handler {
	return k.Require(Access{Scope: apikey.ScopeMonitor, Header: HeaderKey})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Name", answer.KeyName(r))
	}))
}

func keyed(keys ...string) *http.Request {
	r := httptest.NewRequest("GET", "/api/v1/monitor/lakes", nil)
	r.Header["X-Api-Key"] = keys
	return r
}

func TestKeyringReadsSeldom(t *testing.T) {
	c := apitest.NewClock()
	store := &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}
	h := monitoring(newKeyring(store, c.Now))
	for range 100 {
		apitest.Serve(t, h, keyed("secret"))
		apitest.Serve(t, h, keyed("wrong"))
	}
	if store.reads != 1 {
		t.Errorf("200 requests at one time read the store %d times, want once", store.reads)
	}
	store.keys[0].RevokedAt = c.Now()
	c.Advance(keysEvery)
	if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 401 {
		t.Errorf("revoked key after %s: status = %d, want 401", keysEvery, resp.StatusCode)
	}
}

func TestKeyringOutage(t *testing.T) {
	c := apitest.NewClock()
	store := &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}
	var log bytes.Buffer
	h := monitoring(configured(Config{Store: store, Now: c.Now, Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	apitest.Serve(t, h, keyed("secret"))

	store.err = errors.New("disk /dev/sdz is gone")
	for elapsed := keysEvery; elapsed <= keysKept; elapsed += keysEvery {
		c.Advance(keysEvery)
		if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 200 {
			t.Fatalf("%s into an outage: status = %d, want 200", elapsed, resp.StatusCode)
		}
	}
	c.Advance(keysEvery)
	resp := apitest.Serve(t, h, keyed("secret"))
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("after %s: status %d, Retry-After %q, want 503 with one", keysKept, resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	if detail := apitest.Problem(t, resp)["detail"].(string); strings.Contains(detail, "sdz") {
		t.Errorf("detail %q shows internals", detail)
	}
	if got := strings.Count(log.String(), "level=ERROR"); got != 1 {
		t.Errorf("the outage was logged %d times, want once:\n%s", got, &log)
	}

	store.err = nil
	c.Advance(keysEvery)
	if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 200 {
		t.Errorf("after the outage: status = %d, want 200", resp.StatusCode)
	}
	if !strings.Contains(log.String(), "works again") {
		t.Errorf("the end of the outage was not logged:\n%s", &log)
	}
}

// If the clock is set back where it is not monotonic, the list is read again, and a key that was revoked meanwhile is refused.
// If the store fails then, no key is accepted, because the age of the list is unknown.
func TestKeyringWhenTheClockIsSetBack(t *testing.T) {
	for _, back := range []time.Duration{time.Nanosecond, time.Hour, 1000 * time.Hour} {
		c := apitest.NewClock()
		store := &fakeKeys{keys: []apikey.Key{apiKey("agency", "secret"), apiKey("other", "sesame")}}
		h := monitoring(newKeyring(store, c.Now))
		apitest.Serve(t, h, keyed("secret"))
		store.keys[0].RevokedAt = c.Now()
		c.Advance(-back)
		if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 401 {
			t.Errorf("revoked, then %v back: status = %d, want 401", back, resp.StatusCode)
		}
		if resp := apitest.Serve(t, h, keyed("sesame")); resp.StatusCode != 200 {
			t.Errorf("another key, %v back: status = %d, want 200", back, resp.StatusCode)
		}
		store.err = errors.New("down")
		c.Advance(-back)
		if resp := apitest.Serve(t, h, keyed("sesame")); resp.StatusCode != 503 {
			t.Errorf("the store down and %v back: status = %d, want 503", back, resp.StatusCode)
		}
		store.err = nil
		c.Advance(keysEvery)
		if resp := apitest.Serve(t, h, keyed("sesame")); resp.StatusCode != 200 {
			t.Errorf("the store up again, %v back: status = %d, want 200", back, resp.StatusCode)
		}
		if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 401 {
			t.Errorf("the store up again, %v back: the revoked key gets %d, want 401", back, resp.StatusCode)
		}
	}
}

// blockingKeys returns when the test sends it keys, or when its context ends.
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

// While one request reads the list, the others use the previous one, until that is too old.
func TestKeyringDoesNotBlock(t *testing.T) {
	c := apitest.NewClock()
	store := &blockingKeys{entered: make(chan struct{}, 1), release: make(chan []apikey.Key, 1)}
	keys := []apikey.Key{apiKey("agency", "secret")}
	store.release <- keys
	h := monitoring(newKeyring(store, c.Now))
	apitest.Serve(t, h, keyed("secret"))
	<-store.entered

	c.Advance(keysEvery)
	done := make(chan struct{})
	go func() { // ends when release is sent below
		defer close(done)
		apitest.Serve(t, h, keyed("secret"))
	}()
	<-store.entered
	if resp := apitest.Serve(t, h, keyed("secret")); resp.StatusCode != 200 {
		t.Errorf("during a read: status = %d, want 200", resp.StatusCode)
	}
	c.Advance(keysWait - keysEvery)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if resp := apitest.Serve(t, h, keyed("secret").WithContext(ctx)); resp.StatusCode != 503 {
		t.Errorf("a client that left while it had to wait: status = %d, want 503", resp.StatusCode)
	}
	store.release <- keys
	<-done
}

// A slowStore answers after some time, and may fail.
type slowStore struct {
	mu    sync.Mutex
	keys  []apikey.Key // guarded by mu
	reads int          // guarded by mu
	takes time.Duration
	fails func(read int) bool
}

func (m *slowStore) Keys(ctx context.Context) ([]apikey.Key, error) {
	m.mu.Lock()
	keys := slices.Clone(m.keys) // without later commits
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

// Whatever the store does, a revoked key works for 15 seconds at most, and no request waits longer than one read of the list
// may take.
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
		{"store that fails sometimes", time.Second, func(read int) bool { return read%3 != 0 }, 15 * time.Second},
		{"store that fails from then on", time.Second, func(read int) bool { return read > 6 }, 15 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slowStore{keys: []apikey.Key{apiKey("agency", "secret")}, takes: tt.takes, fails: tt.fails}
				h := monitoring(newKeyring(store, time.Now))
				start := time.Now()
				revokedAt := start.Add(30*time.Second + time.Millisecond)
				var mu sync.Mutex
				var accepted, longest time.Duration // after the revocation, and the longest wait; guarded by mu
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() { // ends after two minutes of simulated time
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
