package api

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// stack puts the outer middleware around h in the order that the package comment gives.
func stack(l *slog.Logger, c *clock, h http.Handler) http.Handler {
	h = limitRequest(h)
	h = crossOrigin(nil)(h)
	h = securityHeaders("", FrameAncestors{}, 0)(h)
	h = recoverPanics(l)(h)
	h = logRequests(l, c.now, 0)(h)
	h = withClientAddr(nil)(h)
	return withRequestID(h)
}

// Over a real connection: everything that the middleware promise together stands in one answer, and half an answer
// does not look like a whole one.
func TestMiddlewareTogether(t *testing.T) {
	c := newClock()
	l, lines := jsonLog(t, slog.LevelInfo)
	m := newMetrics(prometheus.NewRegistry(), c.now)
	limit := newLimiter("api", 10, c.now)
	mux := http.NewServeMux()
	mux.Handle("/whole", m.instrument("whole", limit.limit(addressKey)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "lakes")
	}))))
	mux.Handle("/half", m.instrument("half", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "lak")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("flushing through the middleware: %v", err)
		}
		panic("half-way")
	})))
	server := httptest.NewServer(stack(l, c, mux))
	t.Cleanup(server.Close)

	resp, err := server.Client().Get(server.URL + "/whole")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(body) != "lakes" {
		t.Errorf("body = %q, %v, want lakes", body, err)
	}
	for _, name := range []string{
		"X-Request-Id", "RateLimit", "RateLimit-Policy", "Content-Security-Policy", "Access-Control-Allow-Origin",
		"Cross-Origin-Resource-Policy",
	} {
		if resp.Header.Get(name) == "" {
			t.Errorf("answer lacks %s", name)
		}
	}

	resp, err = server.Client().Get(server.URL + "/half")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(resp.Body)
	resp.Body.Close()
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half an answer ends with %v, want io.ErrUnexpectedEOF", err)
	}

	server.Close() // waits for the handlers, so that the log is complete
	var logged []string
	for _, line := range lines() {
		logged = append(logged, line["msg"].(string))
	}
	if want := []string{"request", "panic", "request"}; len(logged) != len(want) || logged[0] != want[0] || logged[1] != want[1] || logged[2] != want[2] {
		t.Errorf("logged %q, want %q", logged, want)
	}
}

// BenchmarkMiddleware is what everything around the router costs together.
func BenchmarkMiddleware(b *testing.B) {
	h := stack(slog.New(slog.DiscardHandler), newClock(), okHandler)
	r := httptest.NewRequest("GET", "/api/v1/tiles/6/33/21.png", nil)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		clear(w.Header())
		h.ServeHTTP(w, r)
	}
}
