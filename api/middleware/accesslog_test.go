package middleware

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

// accessLog is AccessLog without a quota, for which /healthz is routine.
func accessLog(l *slog.Logger, now func() time.Time) Middleware { return accessLogWith(l, now, "") }

func accessLogWith(l *slog.Logger, now func() time.Time, addresses LogAddresses) Middleware {
	return AccessLog(l, NewLogQuota(0, now()), now, func() LogAddresses { return addresses }, func(r *http.Request) bool { return r.URL.Path == "/healthz" })
}

func TestAccessLogShortensAddresses(t *testing.T) {
	for _, tt := range []struct {
		addresses    LogAddresses
		client, want string
	}{
		{"", "203.0.113.77", "203.0.113.0/24"},
		{"short", "203.0.113.77", "203.0.113.0/24"},
		{"short", "2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"},
		{"short", "::ffff:203.0.113.77", "203.0.113.0/24"},
		{"full", "203.0.113.77", "203.0.113.77"},
		{"full", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
		{"none", "203.0.113.77", ""},
	} {
		l, lines := apitest.JSONLog(t, slog.LevelInfo)
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = net.JoinHostPort(tt.client, "4000")
		apitest.Serve(t, accessLogWith(l, apitest.NewClock().Now, tt.addresses)(apitest.OK), r)
		if got, _ := lines()[0]["client"].(string); got != tt.want {
			t.Errorf("%s: the log has %q of %s, want %q", tt.addresses, got, tt.client, tt.want)
		}
	}
}

// Health checks are logged at level debug, also before there are data. Only other failures of them are errors.
func TestAccessLogOfHealthChecks(t *testing.T) {
	for status, want := range map[int]string{200: "DEBUG", 429: "DEBUG", 503: "DEBUG", 500: "ERROR"} {
		l, lines := apitest.JSONLog(t, slog.LevelDebug)
		h := accessLog(l, apitest.NewClock().Now)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		apitest.Serve(t, h, httptest.NewRequest("GET", "/healthz", nil))
		if got := lines()[0]["level"]; got != want {
			t.Errorf("a health check with status %d is logged as %v, want %s", status, got, want)
		}
	}
}

// The line of a 400 says what was wrong, and with which program. Others do not name the program.
func TestAccessLogSaysWhyARequestIsBad(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := accessLog(l, apitest.NewClock().Now)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusBadRequest
		if r.URL.Path == "/gone" {
			status = http.StatusGone
		}
		answer.WriteProblem(w, r, &answer.Problem{Status: status, Errors: []answer.ParameterError{{Parameter: "limit", Detail: "want 1 to 5200" + strings.Repeat("é", 200)}}})
	}))
	for _, path := range []string{"/", "/gone"} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("User-Agent", "client/1.0 "+strings.Repeat("x", 100)+" of a person")
		apitest.Serve(t, h, r)
	}
	got := lines()
	if reason, _ := got[0]["reason"].(string); !strings.HasPrefix(reason, "limit: want 1 to 5200é") || len(reason) > 210 || strings.ContainsRune(reason, '�') {
		t.Errorf("reason = %q", reason)
	}
	if agent, _ := got[0]["user_agent"].(string); !strings.HasPrefix(agent, "client/1.0 x") || len(agent) > 70 {
		t.Errorf("user_agent = %q", agent)
	}
	if got[1]["user_agent"] != nil || got[1]["reason"] != nil {
		t.Errorf("a line of another status is %v", got[1])
	}
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
				"duration_ms": 3.0, "client": "192.0.2.0/24", "request_id": "id-1",
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
