package main

import (
	"net/http/httptest"
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
