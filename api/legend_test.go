package api

import (
	"net/http"
	"strings"
	"testing"
)

func TestLegends(t *testing.T) {
	opts := testOptions(t)
	legends := &fakeLegends{}
	opts.Legends = legends
	s := newServer(t, opts, nil) // a legend needs no data
	for _, test := range []struct{ target, contentType, holds string }{
		{"/api/v1/legend.json", "application/json", `"colormap":"limno"`},
		{"/api/v1/legend.json?colormap=algae", "application/json", `"colormap":"algae"`},
		{"/api/v1/legend.json", "application/json", "cyanobacteria dominate"},
		{"/api/v1/legend.svg?width=400", "image/svg+xml", `width="400"`},
		{"/api/v1/legend.svg", "image/svg+xml", `width="320"`},
		{"/api/v1/legend.png", "image/png", "limno 320 1"},
		{"/api/v1/legend.png?width=200&scale=2&colormap=viridis", "image/png", "viridis 200 2"},
	} {
		w := get(t, s, http.StatusOK, test.target)
		if got := w.Header().Get("Content-Type"); got != test.contentType {
			t.Errorf("Content-Type of %s = %q, want %q", test.target, got, test.contentType)
		}
		if !strings.Contains(w.Body.String(), test.holds) {
			t.Errorf("%s = %.200s, want it to hold %s", test.target, w.Body, test.holds)
		}
	}
	drawn := legends.drawn.Load()
	get(t, s, http.StatusOK, "/api/v1/legend.png")
	if got := legends.drawn.Load(); got != drawn {
		t.Errorf("a legend that was drawn before is drawn again")
	}
	for query, parameter := range map[string]string{
		"colormap=jet": "colormap", "width=159": "width", "width=1025": "width", "width=wide": "width",
		"scale=0": "scale", "scale=3": "scale", "scale=1&scale=1": "scale",
	} {
		for _, form := range []string{"json", "svg", "png"} {
			wantProblem(t, do(s, http.MethodGet, "/api/v1/legend."+form+"?"+query), http.StatusBadRequest, parameter)
		}
	}
	wantProblem(t, do(s, http.MethodGet, "/api/v1/legend.gif"), http.StatusNotFound)
}
