package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/api/apitest"
	"limnomap/data"
	"limnomap/data/snapshot"
)

func snapshotOf(version string, lakes, withData int, changed time.Time) *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Version: version, Revision: data.Revision{Number: 7, ChangedAt: changed},
		Lakes: make([]data.Lake, lakes), Current: &snapshot.View{WithData: withData},
	}
}

func TestSnapshotMetrics(t *testing.T) {
	c := apitest.NewClock()
	reg := prometheus.NewRegistry()
	h := newHealth(&common{weeks: newWeekViews(nil, nil, nil), opts: Options{Registry: reg, Now: c.Now}})
	reg.MustRegister(h)
	names := []string{"limnomap_snapshot_age_seconds", "limnomap_newest_observation_timestamp_seconds", "limnomap_snapshot_info", "limnomap_snapshot_revision", "limnomap_lakes"}
	if n, err := testutil.GatherAndCount(reg, names...); n != 0 || err != nil {
		t.Errorf("before the first snapshot: %d series, %v, want none", n, err)
	}
	snap := testSnapshot(t, testSource(t))
	snap.Version, snap.Revision = "new", data.Revision{Number: 7, ChangedAt: c.Now()}
	h.current.Store(&published{snap: snap})
	c.Advance(90 * time.Second)
	want := `
# HELP limnomap_lakes Lakes in the snapshot, with and without a current value.
# TYPE limnomap_lakes gauge
limnomap_lakes{state="with_data"} 6
limnomap_lakes{state="without_data"} 2
# HELP limnomap_newest_observation_timestamp_seconds Midnight UTC of the day of the newest measurement, in seconds since 1970.
# TYPE limnomap_newest_observation_timestamp_seconds gauge
limnomap_newest_observation_timestamp_seconds 1.7947872e+09
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
	h.current.Store(&published{snap: snapshotOf("dateless", 1, 0, time.Time{})})
	if n, err := testutil.GatherAndCount(reg, "limnomap_snapshot_age_seconds", "limnomap_newest_observation_timestamp_seconds"); n != 0 || err != nil {
		t.Errorf("ages of data without a date: %d series, %v, want none", n, err)
	}
}

// All metrics of a server follow the conventions of Prometheus.
func TestMetricsLint(t *testing.T) {
	opts := testOptions(t)
	opts.Version, opts.Quota = "v1.2.3", fakeQuota{}
	s := newServer(t, opts, testSource(t))
	s.Confirmed(testNow())
	s.DatabaseRefreshed(data.Refresh{Turn: 1, LastAttempt: testNow(), LastSuccess: testNow()})
	get(t, s, http.StatusOK, statusURL)
	problems, err := testutil.GatherAndLint(s.common.opts.Registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "limnomap_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	if body := get(t, s, http.StatusOK, "/metrics").Body.String(); !strings.Contains(body, `renderer="1",version="v1.2.3"} 1`) {
		t.Error("the metrics lack the version of the program")
	}
}

// fakeQuota grants every lease.
type fakeQuota struct{}

func (fakeQuota) Lease(_ context.Context, _, _ string, _, n int) (int, time.Duration, error) {
	return n, 0, nil
}

// requestsByRoute returns how many requests each route has counted.
func requestsByRoute(tb testing.TB, s *Server) map[string]float64 {
	tb.Helper()
	families, err := s.common.opts.Registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	n := make(map[string]float64)
	for _, f := range families {
		if f.GetName() != "limnomap_http_requests_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "route" {
					n[label.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}
