package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"limnomap/api/apitest"
	"limnomap/data/apikey"
)

// The log names a key by its name, and shows neither a valid key nor a refused one.
func TestAccessLogHidesKeys(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	opts := testOptions(t)
	opts.Logger = l
	opts.Keys = &fakeKeys{keys: []apikey.Key{{Name: "agency", Hash: sha256.Sum256([]byte(goodKey)), Scopes: apikey.ScopeMonitor}}}
	s := newServer(t, opts, testSource(t))
	get(t, s, http.StatusOK, "/api/v1/monitor/lakes", "X-API-Key", goodKey)
	get(t, s, http.StatusUnauthorized, "/api/v1/monitor/lakes", "X-API-Key", "s3cr3t")
	var names []any
	for _, line := range lines() {
		if line["path"] == "/api/v1/monitor/lakes" {
			names = append(names, line["key"])
		}
	}
	if want := fmt.Sprint([]any{"agency", nil}); fmt.Sprint(names) != want {
		t.Errorf("the log names the keys %v, want %s", names, want)
	}
	for _, key := range []string{goodKey, "s3cr3t"} {
		if strings.Contains(fmt.Sprint(lines()), key) {
			t.Errorf("the log shows the key %s", key)
		}
	}
}

// No line of the log has the id of a subscription, which is all that one needs to delete it.
func TestLogHidesSubscriptions(t *testing.T) {
	const id = "5ecre75ecre7"
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	opts := testOptions(t)
	opts.Logger, opts.BasePath, opts.PushKey = l, "/lakes", "public"
	store := &failingSubscriptions{}
	opts.Subscriptions = store
	s := newServer(t, opts, testSource(t))
	const path = "/lakes" + pathSubscriptions + "/"
	want := 0
	for _, tt := range []struct {
		method, path string
		err          error
		lines        int
	}{
		{http.MethodDelete, path + id, nil, 1},
		{http.MethodGet, path + id, nil, 1},                                          // not allowed
		{http.MethodDelete, path + id + "/", nil, 1},                                 // no address
		{http.MethodDelete, strings.Replace(path, "push", "p%75sh", 1) + id, nil, 1}, // the same in another spelling
		{http.MethodDelete, path + id, errors.New("the disk is full"), 2},
		{http.MethodDelete, path + id, http.ErrNotSupported, 2}, // panics
	} {
		store.err = tt.err
		do(s, tt.method, tt.path)
		want += tt.lines
	}
	logged := lines()
	if len(logged) != want {
		t.Errorf("%d lines, want %d: %v", len(logged), want, logged)
	}
	for _, line := range logged {
		if line["path"] != path+"…" || strings.Contains(fmt.Sprint(line), id) {
			t.Errorf("the log has %v", line)
		}
	}
}

// failingSubscriptions fail with an error, or panic.
type failingSubscriptions struct {
	fakeSubscriptions
	err error
}

func (f *failingSubscriptions) DeleteSubscription(context.Context, string) error {
	if f.err == http.ErrNotSupported {
		panic("the store is broken")
	}
	return f.err
}

// A quiet server has no lines of probes at level info, also while it loads. A bad request says what was wrong.
func TestAccessLogOfAQuietServer(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	opts := testOptions(t)
	opts.Logger, opts.BasePath = l, "/lakes"
	s := newServer(t, opts, nil)
	get(t, s, http.StatusServiceUnavailable, "/lakes/readyz")
	get(t, s, http.StatusOK, "/lakes/healthz")
	get(t, s, http.StatusOK, "/lakes/metrics")
	for _, path := range []string{"/readyz", "/metrics"} {
		w := httptest.NewRecorder()
		s.AdminHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	}
	if got := lines(); len(got) != 0 {
		t.Errorf("probes are logged: %v", got)
	}
	if err := s.Publish(testSnapshot(t, testSource(t))); err != nil {
		t.Fatal(err)
	}
	get(t, s, http.StatusBadRequest, "/lakes/api/v1/bathing-lakes/near?lat=52&lon=13&limit=0", "User-Agent", "curl/8.1")
	got := lines()
	if len(got) != 1 || got[0]["user_agent"] != "curl/8.1" || !strings.Contains(fmt.Sprint(got[0]["reason"]), "limit") {
		t.Errorf("a bad request is logged as %v", got)
	}
}
