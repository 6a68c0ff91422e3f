package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"limnomap/data/events/push"
)

// fakeSubscriptions stores subscriptions in memory, or fails.
type fakeSubscriptions struct {
	stored map[string]push.Subscription
	err    error
}

func (f *fakeSubscriptions) PutSubscription(_ context.Context, s push.Subscription) error {
	if f.err == nil {
		f.stored[s.ID] = s
	}
	return f.err
}

func (f *fakeSubscriptions) DeleteSubscription(_ context.Context, id string) error {
	if _, ok := f.stored[id]; !ok && f.err == nil {
		return push.ErrNoSubscription
	}
	delete(f.stored, id)
	return f.err
}

// A body with the keys of the example in RFC 8291, section 5.
const subscriptionBody = `{"endpoint":"https://push.example.org/abc","expirationTime":null,"keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"BTBZMqHH6r4Tts7J_aSIgg=="},` +
	`"lakes":["de_by_clean","de_mv_high"],"threshold":"high","daily":true,"zone":"Europe/Berlin"}`

func TestSubscriptions(t *testing.T) {
	stored := &fakeSubscriptions{stored: make(map[string]push.Subscription)}
	opts := testOptions(t)
	opts.Subscriptions, opts.PushKey, opts.PushServices, opts.APIRate = stored, "public", push.Services{"push.example.org"}, 0
	opts.PushClient = func(a netip.Addr) string { return "client " + a.String() }
	s := newServer(t, opts, testSource(t))
	if settings := object(t, get(t, s, http.StatusOK, "/page.json")); settings["push_key"] != "public" {
		t.Errorf("the page gets the key %v", settings["push_key"])
	}
	ask := func(method, target, body string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	w := ask(http.MethodPost, pathSubscriptions, subscriptionBody, "Sec-Fetch-Site", "same-origin")
	var answer struct{ ID string }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s %v, %v", w.Code, w.Body, w.Header(), err)
	}
	got, ok := stored.stored[answer.ID]
	if !ok || answer.ID != push.IDOf("https://push.example.org/abc") || fmt.Sprint(got.Lakes) != "[de_by_clean de_mv_high]" || got.Threshold != push.FromHigh || !got.Daily ||
		got.Zone != "Europe/Berlin" || !got.RenewedAt.Equal(testNow()) || got.Auth != "BTBZMqHH6r4Tts7J_aSIgg" || got.Client != "client 192.0.2.1" {
		t.Errorf("stored %+v", got)
	}
	for name, tt := range map[string]struct {
		method, target, body string
		headers              []string
		status               int
		detail               string
	}{
		"no JSON":             {"POST", "", "x", nil, 400, "is not a subscription as JSON"},
		"unknown lake":        {"POST", "", strings.Replace(subscriptionBody, "de_by_clean", "nowhere", 1), nil, 400, "there is no lake nowhere"},
		"threshold":           {"POST", "", strings.Replace(subscriptionBody, `"high"`, `"low"`, 1), nil, 400, "none of medium, high, closures"},
		"plain HTTP":          {"POST", "", strings.Replace(subscriptionBody, "https", "http", 1), nil, 400, "endpoint"},
		"no push service":     {"POST", "", strings.Replace(subscriptionBody, "push.example.org", "example.org", 1), nil, 400, "none of the push services that this server sends to: push.example.org"},
		"another port":        {"POST", "", strings.Replace(subscriptionBody, "push.example.org", "push.example.org:444", 1), nil, 400, "other ports than 443 must be listed"},
		"time zone":           {"POST", "", strings.Replace(subscriptionBody, "Europe/Berlin", "Berlin", 1), nil, 400, "zone"},
		"another type":        {"POST", "", subscriptionBody, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		"another site":        {"POST", "", subscriptionBody, []string{"Sec-Fetch-Site", "cross-site"}, 403, "Only the page"},
		"another site's form": {"DELETE", "/" + answer.ID, "", []string{"Sec-Fetch-Site", "same-site"}, 403, "Only the page"},
		"too long":            {"POST", "", `{"endpoint":"` + strings.Repeat("x", 17<<10) + `"}`, nil, 413, "16384 bytes at most"},
		"read":                {"GET", "", "", nil, 405, "is for POST"},
		"read one":            {"GET", "/" + answer.ID, "", nil, 405, "is for DELETE"},
		"elsewhere":           {"POST", "/../status", subscriptionBody, nil, 404, ""},
	} {
		w := ask(tt.method, pathSubscriptions+tt.target, tt.body, tt.headers...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.detail) {
			t.Errorf("%s: %d %s, want %d with %q", name, w.Code, w.Body, tt.status, tt.detail)
		}
	}
	if len(stored.stored) != 1 {
		t.Errorf("%d subscriptions are stored, want 1", len(stored.stored))
	}
	for range 2 { // the second time there is none
		if w := ask(http.MethodDelete, pathSubscriptions+"/"+answer.ID, ""); w.Code != http.StatusNoContent || w.Body.Len() > 0 || len(stored.stored) > 0 {
			t.Errorf("delete: %d %s, %d are stored", w.Code, w.Body, len(stored.stored))
		}
	}
	stored.err = push.ErrManyOfClient
	if w := ask(http.MethodPost, pathSubscriptions, subscriptionBody); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "86400" {
		t.Errorf("too many of one client: %d %v", w.Code, w.Header())
	}
	stored.err = push.ErrManySubscriptions
	if w := ask(http.MethodPost, pathSubscriptions, subscriptionBody); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "86400" {
		t.Errorf("too many: %d %v", w.Code, w.Header())
	}
	stored.err = errors.New("the disk is full")
	for _, w := range []*httptest.ResponseRecorder{ask(http.MethodPost, pathSubscriptions, subscriptionBody), ask(http.MethodDelete, pathSubscriptions+"/x", "")} {
		if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "disk") {
			t.Errorf("a store that fails: %d %s", w.Code, w.Body)
		}
	}
	without := testServer(t)
	if settings := object(t, get(t, without, http.StatusOK, "/page.json")); settings["push_key"] != nil {
		t.Errorf("a server that sends none has the key %v", settings["push_key"])
	}
	r := httptest.NewRequest(http.MethodPost, pathSubscriptions, strings.NewReader(subscriptionBody))
	recorder := httptest.NewRecorder()
	without.ServeHTTP(recorder, r)
	wantProblem(t, recorder, http.StatusNotFound)
}

// One client may subscribe more rarely than it may ask: what it subscribes to is stored for a year.
func TestSubscriptionRate(t *testing.T) {
	opts := testOptions(t)
	opts.Subscriptions, opts.PushKey, opts.PushServices = &fakeSubscriptions{stored: make(map[string]push.Subscription)}, "public", push.Services{"*"}
	opts.PushClient = func(netip.Addr) string { return "" }
	opts.APIRate = 300
	s := newServer(t, opts, testSource(t))
	ask := func(method, target string) int {
		r := httptest.NewRequest(method, target, strings.NewReader(subscriptionBody))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for i := range 12 {
		if status, want := ask(http.MethodPost, pathSubscriptions), map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[i < 10]; status != want {
			t.Errorf("subscription %d: %d, want %d", i, status, want)
		}
	}
	if status := ask(http.MethodDelete, pathSubscriptions+"/x"); status != http.StatusNoContent {
		t.Errorf("the same client unsubscribes: %d", status)
	}
}
