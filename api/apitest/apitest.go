// Package apitest helps the tests of the packages below api.
package apitest

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// A Clock is a time that only a test advances. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	t  time.Time // guarded by mu
}

// NewClock returns a Clock at noon of a fixed day.
func NewClock() *Clock { return &Clock{t: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

// Advance adds d, which may be negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// OK answers 200 without a body.
var OK = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })

// Serve sends one request through h and returns the answer.
func Serve(t testing.TB, h http.Handler, r *http.Request) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// Recover serves r and returns the value that h panics with.
func Recover(h http.Handler, r *http.Request) (v any) {
	defer func() { v = recover() }()
	h.ServeHTTP(httptest.NewRecorder(), r)
	return nil
}

// From returns a request from that peer, such as 192.0.2.1:4000, with that header.
func From(peer string, header http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = peer
	if header != nil {
		r.Header = header
	}
	return r
}

// Problem returns the members of a problem, after checking that the answer is one.
func Problem(t testing.TB, resp *http.Response) map[string]any {
	t.Helper()
	if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("Content-Type = %q, want application/problem+json", got)
	}
	var m map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		t.Fatalf("body is not JSON: %v", err)
	}
	return m
}

// JSONLog returns a logger and a function that returns the lines written so far.
func JSONLog(t testing.TB, level slog.Level) (*slog.Logger, func() []map[string]any) {
	t.Helper()
	var buf bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{Level: level}))
	return l, func() []map[string]any {
		t.Helper()
		var lines []map[string]any
		for dec := json.NewDecoder(bytes.NewReader(buf.Bytes())); dec.More(); {
			var m map[string]any
			if err := dec.Decode(&m); err != nil {
				t.Fatalf("log is not JSON: %v", err)
			}
			lines = append(lines, m)
		}
		return lines
	}
}
