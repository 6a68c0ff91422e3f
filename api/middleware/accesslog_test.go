package middleware

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

// accessLog is AccessLog without a quota.
func accessLog(l *slog.Logger, now func() time.Time) Middleware {
	return AccessLog(l, NewLogQuota(0, now()), now)
}

func TestAccessLog(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, tt := range []struct {
		name    string
		ctx     context.Context
		handler http.HandlerFunc
		want    map[string]any
		absent  []string
	}{
		{
			"body", t.Context(),
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "four") },
			map[string]any{
				"level": "INFO", "msg": "request", "method": "GET", "path": "/a b", "status": 200.0, "bytes": 4.0,
				"duration_ms": 3.0, "client": "192.0.2.1", "request_id": "id-1",
			}, []string{"key", "client_gone", "aborted"},
		}, {
			"nothing written is a 200", t.Context(), func(http.ResponseWriter, *http.Request) {},
			map[string]any{"level": "INFO", "status": 200.0, "bytes": 0.0}, nil,
		}, {
			"404 is not an error", t.Context(), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
			map[string]any{"level": "INFO", "status": 404.0}, nil,
		}, {
			"503 is an error", t.Context(), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
			map[string]any{"level": "ERROR", "status": 503.0}, nil,
		}, {
			"early hints are not the status", t.Context(),
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(404) },
			map[string]any{"status": 404.0}, nil,
		}, {
			"client gone", gone, func(http.ResponseWriter, *http.Request) {},
			map[string]any{"level": "INFO", "status": 499.0, "client_gone": true}, nil,
		}, {
			"client gone from a failure", gone, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
			map[string]any{"level": "INFO", "status": 500.0, "client_gone": true}, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, lines := apitest.JSONLog(t, slog.LevelDebug)
			c := apitest.NewClock()
			h := RequestID(accessLog(l, c.Now)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.Advance(3 * time.Millisecond)
				tt.handler(w, r)
			})))
			r := httptest.NewRequestWithContext(tt.ctx, "GET", "/a%20b?token=secret", nil)
			r.RemoteAddr = "192.0.2.1:4000"
			r.Header.Set("X-Request-Id", "id-1")
			apitest.Serve(t, h, r)
			got := lines()
			if len(got) != 1 {
				t.Fatalf("%d lines, want one: %v", len(got), got)
			}
			for name, want := range tt.want {
				if got[0][name] != want {
					t.Errorf("%s = %v, want %v", name, got[0][name], want)
				}
			}
			for _, name := range tt.absent {
				if v, ok := got[0][name]; ok {
					t.Errorf("%s = %v, want none", name, v)
				}
			}
		})
	}
}

// The log is outside of the check of the key and shows the key's name, but not the query, which may contain a key.
func TestAccessLogShowsOnlyTheNameOfAKey(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := accessLog(l, apitest.NewClock().Now)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		answer.InfoOf(r).KeyName = "agency"
	}))
	apitest.Serve(t, h, httptest.NewRequest("GET", "/api/v1/monitor/lakes?key=s3cr3t", nil))
	got := lines()
	if len(got) != 1 || got[0]["key"] != "agency" {
		t.Errorf("log = %v, want one line with the name of the key", got)
	}
	if strings.Contains(fmt.Sprint(got), "s3cr3t") {
		t.Errorf("log shows the query: %v", got)
	}
}

func TestAccessLogCutsLongPaths(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := accessLog(l, apitest.NewClock().Now)(apitest.OK)
	apitest.Serve(t, h, httptest.NewRequest("GET", "/"+strings.Repeat("a", 5000), nil))
	if got := len(lines()[0]["path"].(string)); got != answer.MaxLoggedPath {
		t.Errorf("logged path has %d characters, want %d", got, answer.MaxLoggedPath)
	}
}

func TestAccessLogObeysTheLevel(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelError)
	apitest.Serve(t, accessLog(l, apitest.NewClock().Now)(apitest.OK), httptest.NewRequest("GET", "/", nil))
	if got := lines(); len(got) != 0 {
		t.Errorf("a 200 was logged at level error: %v", got)
	}
}
