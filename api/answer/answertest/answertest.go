// Package answertest helps to test handlers.
package answertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"limnomap/api/answer"
)

// Serve sends one request to h and returns the answer.
func Serve(tb testing.TB, h http.Handler, r *http.Request) *http.Response {
	tb.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// Problem returns the members of a problem, and fails if the answer is none.
func Problem(tb testing.TB, resp *http.Response) map[string]any {
	tb.Helper()
	if got := resp.Header.Get("Content-Type"); got != answer.ProblemType {
		tb.Fatalf("Content-Type = %q, want %q", got, answer.ProblemType)
	}
	var m map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		tb.Fatalf("body is no JSON: %v", err)
	}
	return m
}
