package middleware

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"limnomap/api/apitest"
)

func TestRecover(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := RequestID(Recover(l)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic("index 7 of lakes.db")
	})))
	r := httptest.NewRequest("GET", "/x", nil)
	r.Header.Set("X-Request-Id", "id-1")
	resp := apitest.Serve(t, h, r)
	if resp.StatusCode != 500 {
		t.Errorf("status = %d, want 500", resp.StatusCode)
	}
	body := apitest.Problem(t, resp)
	if body["request_id"] != "id-1" || strings.Contains(fmt.Sprint(body), "lakes.db") {
		t.Errorf("problem = %v, want the request's id and no internals", body)
	}
	got := lines()
	if len(got) != 1 || got[0]["request_id"] != "id-1" || got[0]["panic"] != "index 7 of lakes.db" {
		t.Fatalf("log = %v, want one line with the id and the panic", got)
	}
	if stack, _ := got[0]["stack"].(string); !strings.Contains(stack, "TestRecover") {
		t.Errorf("stack does not show the handler: %s", stack)
	}
}

func TestRecoverClosesTheConnectionOfAPartialAnswer(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := Recover(l)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"lakes": [`)
		panic("half-way")
	}))
	if got := apitest.Recover(h, httptest.NewRequest("GET", "/", nil)); got != http.ErrAbortHandler {
		t.Errorf("panics with %v, want http.ErrAbortHandler", got)
	}
	if got := lines(); len(got) != 1 {
		t.Errorf("%d lines, want one", len(got))
	}
}

func TestRecoverIgnoresAborts(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := Recover(l)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	if got := apitest.Recover(h, httptest.NewRequest("GET", "/", nil)); got != http.ErrAbortHandler {
		t.Errorf("panics with %v, want http.ErrAbortHandler", got)
	}
	if got := lines(); len(got) != 0 {
		t.Errorf("an intended abort was logged: %v", got)
	}
}

func TestAccessLogNamesAborts(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	h := accessLog(l, apitest.NewClock().Now)(Recover(l)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	})))
	apitest.Recover(h, httptest.NewRequest("GET", "/", nil))
	if got := lines(); len(got) != 1 || got[0]["aborted"] != true {
		t.Errorf("log = %v, want one line that says aborted", got)
	}
}
