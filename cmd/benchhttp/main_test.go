package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

func TestHandler(t *testing.T) {
	handler, err := newHandler(fstest.MapFS{
		"tiles/6/33/21.png": {Data: []byte("a tile")},
		"status":            {Data: []byte("{}")},
		"status.gz":         {Data: []byte("packed")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path                            string
		status                          int
		contentType, encoding, contents string
	}{
		{"/tiles/6/33/21.png", 200, "image/png", "", "a tile"},
		{"/status", 200, "application/json", "", "{}"},
		{"/status.gz", 200, "application/json", "gzip", "packed"},
		{"/nothing", 404, "text/plain; charset=utf-8", "", "404 page not found\n"},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", tt.path, nil))
		if w.Code != tt.status || w.Header().Get("Content-Type") != tt.contentType ||
			w.Header().Get("Content-Encoding") != tt.encoding || w.Body.String() != tt.contents {
			t.Errorf("GET %s = %d %v %q, want %+v", tt.path, w.Code, w.Header(), w.Body, tt)
		}
	}
}

// A view is 40 tiles around a place in Germany, and other views are elsewhere.
func TestViewPaths(t *testing.T) {
	first, second := viewPaths(10, 0, "?style=heat"), viewPaths(10, 1, "")
	if len(first) != 40 || first[0] != "/api/v1/tiles/10/532/349.png?style=heat" || slices.Contains(second, first[0]) || slices.Contains(second, "") {
		t.Errorf("%q and %q", first, second)
	}
}

// A viewer asks again after a refusal, and takes no other error for a tile.
func TestViewerAsksAgain(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		} else if r.URL.Path != "/tile" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	v := newViewer(server.URL)
	if _, err := v.view([]string{"/tile"}); err != nil || asked.Load() != 2 {
		t.Errorf("after a refusal: %v, asked %d times", err, asked.Load())
	}
	if _, err := v.view([]string{"/tile", "/none"}); err == nil {
		t.Error("a view without one of its tiles is no error")
	}
}
