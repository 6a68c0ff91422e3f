package api

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRecoverPanics(t *testing.T) {
	l, lines := jsonLog(t, slog.LevelInfo)
	h := withRequestID(recoverPanics(l)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic("index 7 of lakes.db")
	})))
	r := httptest.NewRequest("GET", "/x", nil)
	r.Header.Set("X-Request-Id", "id-1")
	resp := serve(t, h, r)
	if resp.StatusCode != 500 {
		t.Errorf("status = %d, want 500", resp.StatusCode)
	}
	body := decodeProblem(t, resp)
	if body["request_id"] != "id-1" || strings.Contains(resp.Status+fmt.Sprint(body["detail"]), "lakes.db") {
		t.Errorf("problem = %v, want the request's id and nothing internal", body)
	}
	got := lines()
	if len(got) != 1 || got[0]["request_id"] != "id-1" || got[0]["panic"] != "index 7 of lakes.db" {
		t.Fatalf("log = %v, want one line with the id and the panic", got)
	}
	if stack, _ := got[0]["stack"].(string); !strings.Contains(stack, "TestRecoverPanics") {
		t.Errorf("stack does not show the handler: %s", stack)
	}
}

// recovered serves r and returns what h panics with.
func recovered(h http.Handler, r *http.Request) (v any) {
	defer func() { v = recover() }()
	h.ServeHTTP(httptest.NewRecorder(), r)
	return nil
}

func TestRecoverCutsHalfAnAnswer(t *testing.T) {
	l, lines := jsonLog(t, slog.LevelInfo)
	h := recoverPanics(l)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"lakes": [`)
		panic("half-way")
	}))
	if got := recovered(h, httptest.NewRequest("GET", "/", nil)); got != http.ErrAbortHandler {
		t.Errorf("panics on with %v, want http.ErrAbortHandler", got)
	}
	if got := lines(); len(got) != 1 {
		t.Errorf("%d lines, want one", len(got))
	}
}

func TestRecoverLetsAbortsPass(t *testing.T) {
	l, lines := jsonLog(t, slog.LevelInfo)
	h := recoverPanics(l)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	if got := recovered(h, httptest.NewRequest("GET", "/", nil)); got != http.ErrAbortHandler {
		t.Errorf("panics on with %v, want http.ErrAbortHandler", got)
	}
	if got := lines(); len(got) != 0 {
		t.Errorf("a wanted abort was logged: %v", got)
	}
}

func TestAbortIsLogged(t *testing.T) {
	l, lines := jsonLog(t, slog.LevelInfo)
	h := logRequests(l, newClock().now, 0)(recoverPanics(l)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	})))
	recovered(h, httptest.NewRequest("GET", "/", nil))
	if got := lines(); len(got) != 1 || got[0]["aborted"] != true {
		t.Errorf("log = %v, want one line that says aborted", got)
	}
}
