package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// serve sends one request through h and returns the recorded answer.
func serve(t testing.TB, h http.Handler, r *http.Request) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// decodeProblem returns the members of a problem, after checking that the answer is one.
func decodeProblem(t testing.TB, resp *http.Response) map[string]any {
	t.Helper()
	if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("Content-Type = %q, want application/problem+json", got)
	}
	var m map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		t.Fatalf("body is no JSON: %v", err)
	}
	return m
}

func problemHandler(p *problem) http.Handler {
	return withRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"of-the-answer-hoped-for"`)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Cache-Control", "public, max-age=60")
		writeProblem(w, r, p)
	}))
}

func TestWriteProblem(t *testing.T) {
	for _, tt := range []struct {
		name, target string
		problem      problem
		want         map[string]any
	}{
		{
			name: "parameters", target: "/api/v1/monitor/lakes?limit=0&secret=1",
			problem: problem{Status: 400, Detail: "A parameter is malformed.", Errors: []paramError{{Parameter: "limit", Detail: "is 0, allowed are 1 to 5000"}}},
			want: map[string]any{
				"type": "about:blank", "title": "Bad Request", "status": 400.0, "detail": "A parameter is malformed.",
				"instance": "/api/v1/monitor/lakes",
				"errors":   []any{map[string]any{"parameter": "limit", "detail": "is 0, allowed are 1 to 5000"}},
			},
		}, {
			name: "escaped path", target: "/lake/%3Cb%3E%20%C3%BC",
			problem: problem{Status: 404},
			want:    map[string]any{"type": "about:blank", "title": "Not Found", "status": 404.0, "instance": "/lake/%3Cb%3E%20%C3%BC"},
		}, {
			name: "two slashes name no host", target: "http://here//evil.example/x",
			problem: problem{Status: 404},
			want:    map[string]any{"type": "about:blank", "title": "Not Found", "status": 404.0, "instance": "/.//evil.example/x"},
		}, {
			name: "path too long to echo", target: "/" + strings.Repeat("a", maxInstance),
			problem: problem{Status: 414},
			want:    map[string]any{"type": "about:blank", "title": "Request URI Too Long", "status": 414.0},
		}, {
			name: "a 500 tells nothing", target: "/x",
			problem: problem{Status: 500, Detail: "open /var/lib/lakes.db: permission denied", Errors: []paramError{{Parameter: "db", Detail: "lakes.db"}}},
			want: map[string]any{
				"type": "about:blank", "title": "Internal Server Error", "status": 500.0, "detail": internalDetail,
				"instance": "/x", "request_id": "abc-1",
			},
		}, {
			name: "a 503 says what its author chose", target: "/x",
			problem: problem{Status: 503, Detail: "No data yet."},
			want: map[string]any{
				"type": "about:blank", "title": "Service Unavailable", "status": 503.0, "detail": "No data yet.",
				"instance": "/x", "request_id": "abc-1",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", tt.target, nil)
			r.Header.Set("X-Request-Id", "abc-1")
			resp := serve(t, problemHandler(&tt.problem), r)
			if resp.StatusCode != tt.problem.Status {
				t.Errorf("status = %d, want %d", resp.StatusCode, tt.problem.Status)
			}
			if got := decodeProblem(t, resp); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("problem = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWriteProblemHeaders(t *testing.T) {
	p := &problem{Status: 405, Header: http.Header{"Allow": {"GET, HEAD, OPTIONS"}}}
	resp := serve(t, problemHandler(p), httptest.NewRequest("DELETE", "/x", nil))
	for name, want := range map[string]string{
		"Allow": "GET, HEAD, OPTIONS", "Cache-Control": "no-store", "ETag": "", "Content-Encoding": "",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestWriteProblemHead(t *testing.T) {
	p := &problem{Status: 404, Detail: "No lake bears that id."}
	get := httptest.NewRecorder()
	problemHandler(p).ServeHTTP(get, httptest.NewRequest("GET", "/x", nil))
	head := httptest.NewRecorder()
	problemHandler(p).ServeHTTP(head, httptest.NewRequest("HEAD", "/x", nil))
	if head.Body.Len() != 0 {
		t.Errorf("HEAD has a body of %d bytes, want none", head.Body.Len())
	}
	want := strconv.Itoa(get.Body.Len())
	if got := head.Header().Get("Content-Length"); got != want {
		t.Errorf("HEAD: Content-Length = %s, want GET's %s", got, want)
	}
}

func TestProblemError(t *testing.T) {
	err := error(&problem{Status: 400, Detail: "malformed", Errors: []paramError{{Parameter: "limit", Detail: "is 0"}}})
	if got, want := err.Error(), "400 Bad Request: malformed; limit: is 0"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
