package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"limnomap/data/apikey"
)

// jsonLog returns a logger and a function that returns the lines written so far.
func jsonLog(t testing.TB, level slog.Level) (*slog.Logger, func() []map[string]any) {
	t.Helper()
	var buf bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{Level: level}))
	return l, func() []map[string]any {
		t.Helper()
		var lines []map[string]any
		for dec := json.NewDecoder(bytes.NewReader(buf.Bytes())); dec.More(); {
			var m map[string]any
			if err := dec.Decode(&m); err != nil {
				t.Fatalf("log is no JSON: %v", err)
			}
			lines = append(lines, m)
		}
		return lines
	}
}

func TestLogRequests(t *testing.T) {
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
			"404 is no error", t.Context(), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
			map[string]any{"level": "INFO", "status": 404.0}, nil,
		}, {
			"503 is one", t.Context(), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
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
			l, lines := jsonLog(t, slog.LevelDebug)
			c := newClock()
			h := withRequestID(logRequests(l, c.now, 0)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.pass(3 * time.Millisecond)
				tt.handler(w, r)
			})))
			r := httptest.NewRequestWithContext(tt.ctx, "GET", "/a%20b?token=secret", nil)
			r.RemoteAddr = "192.0.2.1:4000"
			r.Header.Set("X-Request-Id", "id-1")
			serve(t, h, r)
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

// The log stands outside the keyring, and yet has to show the name of the key; never the key, nor the query.
func TestLogShowsKeyNamesOnly(t *testing.T) {
	var buf bytes.Buffer
	c := newClock()
	k := newKeyring(&fakeKeys{keys: []apikey.Key{apiKey("agency", "s3cr3t")}}, c.now)
	h := withRequestID(withClientAddr(nil)(logRequests(slog.New(slog.NewTextHandler(&buf, nil)), c.now, 0)(k.require(monitorAccess, http.HandlerFunc(unauthorized))(okHandler))))
	r := keyed("s3cr3t")
	r.URL.RawQuery = "key=s3cr3t"
	serve(t, h, r)
	if !strings.Contains(buf.String(), "key=agency") {
		t.Errorf("log lacks the key's name: %s", &buf)
	}
	if strings.Contains(buf.String(), "s3cr3t") {
		t.Errorf("log shows the key: %s", &buf)
	}
}

func TestLogClipsPaths(t *testing.T) {
	l, lines := jsonLog(t, slog.LevelInfo)
	h := logRequests(l, newClock().now, 0)(okHandler)
	serve(t, h, httptest.NewRequest("GET", "/"+strings.Repeat("a", 5000), nil))
	if got := len(lines()[0]["path"].(string)); got != maxLoggedPath {
		t.Errorf("logged path has %d characters, want %d", got, maxLoggedPath)
	}
}

func TestLogHonoursLevel(t *testing.T) {
	l, lines := jsonLog(t, slog.LevelError)
	serve(t, logRequests(l, newClock().now, 0)(okHandler), httptest.NewRequest("GET", "/", nil))
	if got := lines(); len(got) != 0 {
		t.Errorf("a 200 was logged at level error: %v", got)
	}
}

func BenchmarkAccessLog(b *testing.B) {
	h := withRequestID(logRequests(slog.New(slog.NewTextHandler(io.Discard, nil)), time.Now, 0)(okHandler))
	r := httptest.NewRequest("GET", "/api/v1/tiles/6/33/21.png", nil)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
