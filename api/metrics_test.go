package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/api/answer"
	"limnomap/data"
)

func TestInstrument(t *testing.T) {
	c := newClock()
	reg := prometheus.NewRegistry()
	m := newMetrics(reg, c.now)
	h := m.instrument("tile", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := testutil.ToFloat64(m.inFlight); got != 1 {
			t.Errorf("in flight = %v, want 1", got)
		}
		c.pass(2 * time.Second)
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
		serve(t, h, r)
	}
	recovered(h, httptest.NewRequest("GET", "/panic", nil))
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

func snapshotOf(version string, lakes, withData int, changed time.Time) *data.Snapshot {
	return &data.Snapshot{
		Version: version, Revision: data.Revision{Number: 7, ChangedAt: changed},
		Lakes: make([]data.Lake, lakes), Current: &data.View{WithData: withData},
	}
}

func TestSnapshotMetrics(t *testing.T) {
	c := newClock()
	reg := prometheus.NewRegistry()
	m := newMetrics(reg, c.now)
	names := []string{"limnomap_snapshot_age_seconds", "limnomap_newest_observation_timestamp_seconds", "limnomap_snapshot_info", "limnomap_snapshot_revision", "limnomap_lakes"}
	if n, err := testutil.GatherAndCount(reg, names...); n != 0 || err != nil {
		t.Errorf("before the first snapshot: %d series, %v, want none", n, err)
	}
	m.published(snapshotOf("old", 1, 1, c.now()))
	snap := snapshotOf("new", 10, 7, c.now())
	snap.Weeks, snap.Current.AsOf = make([]data.WeekCount, 1), 20_000
	m.published(snap)
	c.pass(90 * time.Second)
	want := `
# HELP limnomap_lakes Lakes in the snapshot, with and without a current value.
# TYPE limnomap_lakes gauge
limnomap_lakes{state="with_data"} 7
limnomap_lakes{state="without_data"} 3
# HELP limnomap_newest_observation_timestamp_seconds Midnight UTC of the day of the newest satellite observation, in seconds since 1970.
# TYPE limnomap_newest_observation_timestamp_seconds gauge
limnomap_newest_observation_timestamp_seconds 1.728e+09
# HELP limnomap_snapshot_age_seconds Time since the data that are served were last changed by an import.
# TYPE limnomap_snapshot_age_seconds gauge
limnomap_snapshot_age_seconds 90
# HELP limnomap_snapshot_info Always 1; the label is the version of the snapshot that is served.
# TYPE limnomap_snapshot_info gauge
limnomap_snapshot_info{version="new"} 1
# HELP limnomap_snapshot_revision Number of the data's revision that is served.
# TYPE limnomap_snapshot_revision gauge
limnomap_snapshot_revision 7
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	m.published(snapshotOf("dateless", 1, 0, time.Time{}))
	if n, err := testutil.GatherAndCount(reg, "limnomap_snapshot_age_seconds", "limnomap_newest_observation_timestamp_seconds"); n != 0 || err != nil {
		t.Errorf("ages of data without a date: %d series, %v, want none", n, err)
	}
}

func TestCountsOfFailuresAndRefusals(t *testing.T) {
	c := newClock()
	m := newMetrics(prometheus.NewRegistry(), c.now)
	m.refreshFailed()
	if got := testutil.ToFloat64(m.failures); got != 1 {
		t.Errorf("refresh failures = %v, want 1", got)
	}
	l := newLimiter("tiles", 1, c.now)
	m.watch(l)
	h := l.limit(addressKey)(okHandler)
	for range 3 {
		serve(t, h, fromPeer("192.0.2.1:1", nil))
	}
	if got := testutil.ToFloat64(m.limited.WithLabelValues("tiles")); got != 2 {
		t.Errorf("refused by the limit = %v, want 2", got)
	}
}

func TestMetricsLint(t *testing.T) {
	c := newClock()
	reg := prometheus.NewPedanticRegistry()
	m := newMetrics(reg, c.now)
	m.build("v1.2.3", "r1")
	m.published(snapshotOf("v", 2, 1, c.now()))
	m.contact = &contact{start: c.now()}
	m.contact.confirmed.Store(1)
	m.watch(newLimiter("api", 1, c.now))
	serve(t, m.instrument("status", okHandler), httptest.NewRequest("GET", "/", nil))
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if got := testutil.ToFloat64(m.buildInfo); got != 1 {
		t.Errorf("build info = %v, want 1", got)
	}
}

func TestCodeOutsideTheTable(t *testing.T) {
	m := newMetrics(prometheus.NewRegistry(), newClock().now)
	for status, want := range map[int]string{200: "200", 599: "599", 600: "other", 999: "other", -1: "other"} {
		if got := m.code(status); got != want {
			t.Errorf("code(%d) = %q, want %q", status, got, want)
		}
	}
}

func BenchmarkInstrument(b *testing.B) {
	h := newMetrics(prometheus.NewRegistry(), time.Now).instrument("tile", okHandler)
	r := httptest.NewRequest("GET", "/", nil)
	w := answer.Track(httptest.NewRecorder())
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
