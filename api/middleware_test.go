package api

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"limnomap/api/apitest"
	"limnomap/api/joinwrites"
)

// Over a real connection, with the chain of the server: everything that the middleware promise is in one answer, and half an
// answer does not look like a whole one.
func TestChain(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	opts := testOptions(t)
	opts.Logger, opts.APIRate, opts.Notice = l, 10, "Simulated"
	s := newServer(t, opts, nil)
	mux := http.NewServeMux()
	mux.Handle("/whole", s.measured("whole", "", s.limits.api.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "lakes")
	}))))
	mux.Handle("/half", s.measured("half", "", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "lak")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("flushing through the middleware: %v", err)
		}
		panic("half-way")
	})))
	mux.Handle("/none", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("at once") }))
	server := httptest.NewUnstartedServer(s.chain(mux))
	server.Listener = joinwrites.Listener(server.Listener)
	server.Config.ConnContext = joinwrites.ConnContext
	server.Start()
	t.Cleanup(server.Close)
	get := func(path string) (*http.Response, string, error) {
		t.Helper()
		resp, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		return resp, string(body), err
	}

	resp, body, err := get("/whole")
	if err != nil || body != "lakes" {
		t.Errorf("body = %q, %v, want lakes", body, err)
	}
	for _, name := range []string{
		"X-Request-Id", "RateLimit", "RateLimit-Policy", "Content-Security-Policy", "Access-Control-Allow-Origin",
		"Cross-Origin-Resource-Policy", "X-Data-Notice",
	} {
		if resp.Header.Get(name) == "" {
			t.Errorf("the answer lacks %s", name)
		}
	}
	if _, _, err := get("/half"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half an answer ends with %v, want io.ErrUnexpectedEOF", err)
	}
	if resp, _, err := get("/none"); err != nil || resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("a handler that panics at once is answered %s, %v, want 500", resp.Status, err)
	}

	server.Close() // waits for the handlers, so that the log is complete
	var logged string
	for _, line := range lines() {
		logged += line["msg"].(string) + " "
	}
	if want := "request panic request panic request "; logged != want {
		t.Errorf("logged %q, want %q", logged, want)
	}
}
