package middleware

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/api/apitest"
)

func TestMetrics(t *testing.T) {
	c := apitest.NewClock()
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg, c.Now)
	h := m.Route("tile")(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := testutil.ToFloat64(m.inFlight); got != 1 {
			t.Errorf("in flight = %v, want 1", got)
		}
		c.Advance(2 * time.Second)
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(404)
		case "/panic":
			panic(http.ErrAbortHandler)
		}
	}))
	for _, r := range []*http.Request{
		httptest.NewRequest("GET", "/", nil),
		httptest.NewRequest("GET", "/?q=1", nil),
		httptest.NewRequest("HEAD", "/missing", nil),
		httptest.NewRequest("BREW", "/missing", nil),
	} {
		apitest.Serve(t, h, r)
	}
	apitest.Recover(h, httptest.NewRequest("GET", "/panic", nil))
	want := `
# HELP limnomap_http_requests_total Requests answered, by route, method and status code.
# TYPE limnomap_http_requests_total counter
limnomap_http_requests_total{code="200",method="GET",route="tile"} 2
limnomap_http_requests_total{code="404",method="HEAD",route="tile"} 1
limnomap_http_requests_total{code="404",method="other",route="tile"} 1
limnomap_http_requests_total{code="500",method="GET",route="tile"} 1
limnomap_http_requests_total{code="503",method="GET",route="tile"} 0
# HELP limnomap_http_requests_in_flight Requests being answered now.
# TYPE limnomap_http_requests_in_flight gauge
limnomap_http_requests_in_flight 0
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "limnomap_http_requests_total", "limnomap_http_requests_in_flight"); err != nil {
		t.Error(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "limnomap_http_request_duration_seconds" {
			continue
		}
		if got := f.GetMetric()[0].GetHistogram(); got.GetSampleCount() != 5 || got.GetSampleSum() != 10 {
			t.Errorf("durations: %d in %v s, want 5 in 10 s", got.GetSampleCount(), got.GetSampleSum())
		}
	}
}

func TestStatusLabels(t *testing.T) {
	for status, want := range map[int]string{200: "200", 599: "599", 600: "other", 999: "other", -1: "other"} {
		if got := codeClass(status); got != want {
			t.Errorf("codeClass(%d) = %q, want %q", status, got, want)
		}
	}
}
