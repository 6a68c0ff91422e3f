package answer_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

func problemHandler(p *answer.Problem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, info := answer.WithInfo(r)
		info.ID[0] = r.Header.Get("X-Request-Id")
		w.Header().Set("ETag", `"of-the-answer-hoped-for"`)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Cache-Control", "public, max-age=60")
		answer.WriteProblem(w, r, p)
	})
}

// An EventSource connects again after a stream that ends, and never after any other answer. What is no temporary refusal ends it.
func TestProblemsOfStreams(t *testing.T) {
	after := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	for _, tt := range []struct {
		accept  string
		problem answer.Problem
		status  int
		body    string
	}{
		{"text/event-stream", answer.Problem{Status: 503, Detail: "The server is shutting down.", Header: after("7")}, 200, ": The server is shutting down.\nretry: 7000\n\n"},
		{"text/event-stream", answer.Problem{Status: 503, Detail: "No data yet."}, 200, ": No data yet.\nretry: 5000\n\n"},
		{"text/event-stream", answer.Problem{Status: 429, Detail: "Too many requests.", Header: after("60")}, 200, ": Too many requests.\nretry: 60000\n\n"},
		{"text/event-stream", answer.Problem{Status: 410, Detail: "No longer kept."}, 410, ""},
		{"text/event-stream", answer.Problem{Status: 400, Detail: "No number."}, 400, ""},
		{"*/*", answer.Problem{Status: 503, Detail: "No data yet."}, 503, ""},
	} {
		r := httptest.NewRequest("GET", "/api/v1/events/stream", nil)
		r.Header.Set("Accept", tt.accept)
		w := httptest.NewRecorder()
		problemHandler(&tt.problem).ServeHTTP(w, r)
		if w.Code != tt.status || tt.body != "" && (w.Body.String() != tt.body || w.Header().Get("Content-Type") != "text/event-stream" || w.Header().Get("Cache-Control") != answer.CacheNever) {
			t.Errorf("%d for %s: %d %q with %v, want %d %q", tt.problem.Status, tt.accept, w.Code, w.Body, w.Header(), tt.status, tt.body)
		}
		if got, want := w.Header().Get("Retry-After"), tt.problem.Header.Get("Retry-After"); got != want {
			t.Errorf("%d for %s: Retry-After = %q, want %q", tt.problem.Status, tt.accept, got, want)
		}
	}
}

func TestWriteProblem(t *testing.T) {
	for _, tt := range []struct {
		name, target string
		problem      answer.Problem
		want         map[string]any
	}{
		{
			name: "parameters", target: "/api/v1/monitor/lakes?limit=0&secret=1",
			problem: answer.Problem{Status: 400, Detail: "A parameter is malformed.", Errors: []answer.ParameterError{{Parameter: "limit", Detail: "is 0, allowed are 1 to 5000"}}},
			want: map[string]any{
				"type": "about:blank", "title": "Bad Request", "status": 400.0, "detail": "A parameter is malformed.",
				"instance": "/api/v1/monitor/lakes",
				"errors":   []any{map[string]any{"parameter": "limit", "detail": "is 0, allowed are 1 to 5000"}},
			},
		}, {
			name: "escaped path", target: "/lake/%3Cb%3E%20%C3%BC",
			problem: answer.Problem{Status: 404},
			want:    map[string]any{"type": "about:blank", "title": "Not Found", "status": 404.0, "instance": "/lake/%3Cb%3E%20%C3%BC"},
		}, {
			name: "two slashes are not a host", target: "http://here//evil.example/x",
			problem: answer.Problem{Status: 404},
			want:    map[string]any{"type": "about:blank", "title": "Not Found", "status": 404.0, "instance": "/.//evil.example/x"},
		}, {
			name: "path too long to echo", target: "/" + strings.Repeat("a", 1024),
			problem: answer.Problem{Status: 414},
			want:    map[string]any{"type": "about:blank", "title": "Request URI Too Long", "status": 414.0},
		}, {
			name: "a 500 shows nothing internal", target: "/x",
			problem: answer.Problem{Status: 500, Detail: "open /var/lib/lakes.db: permission denied", Errors: []answer.ParameterError{{Parameter: "db", Detail: "lakes.db"}}},
			want: map[string]any{
				"type": "about:blank", "title": "Internal Server Error", "status": 500.0, "detail": "The server could not answer this request. Its log has the reason under this request_id.",
				"instance": "/x", "request_id": "abc-1",
			},
		}, {
			name: "a 503 shows its detail", target: "/x",
			problem: answer.Problem{Status: 503, Detail: "No data yet."},
			want: map[string]any{
				"type": "about:blank", "title": "Service Unavailable", "status": 503.0, "detail": "No data yet.",
				"instance": "/x", "request_id": "abc-1",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", tt.target, nil)
			r.Header.Set("X-Request-Id", "abc-1")
			resp := apitest.Serve(t, problemHandler(&tt.problem), r)
			if resp.StatusCode != tt.problem.Status {
				t.Errorf("status = %d, want %d", resp.StatusCode, tt.problem.Status)
			}
			if got := apitest.Problem(t, resp); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("problem = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWriteProblemHeaders(t *testing.T) {
	p := &answer.Problem{Status: 405, Header: http.Header{"Allow": {"GET, HEAD, OPTIONS"}}}
	resp := apitest.Serve(t, problemHandler(p), httptest.NewRequest("DELETE", "/x", nil))
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
	p := &answer.Problem{Status: 404, Detail: "No lake has this id."}
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
	err := error(&answer.Problem{Status: 400, Detail: "malformed", Errors: []answer.ParameterError{{Parameter: "limit", Detail: "is 0"}}})
	if got, want := err.Error(), "400 Bad Request: malformed; limit: is 0"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
