package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data"
)

func TestDatabaseRefreshed(t *testing.T) {
	opts := testOptions(t)
	opts.Registry = prometheus.NewPedanticRegistry()
	s := newServer(t, opts, testSource(t))
	names := []string{
		"limnomap_refresh_last_success_timestamp_seconds", "limnomap_refresh_last_attempt_timestamp_seconds",
		"limnomap_refresh_consecutive_failures", "limnomap_refresh_rows",
	}
	const readyz = "/readyz"
	state := func() string {
		t.Helper()
		var body struct{ Refresh json.RawMessage }
		w := get(t, s, http.StatusOK, readyz) // with any outcome of a refresh
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		return string(body.Refresh)
	}
	for _, none := range []func(){func() {}, func() { s.DatabaseRefreshed(data.Refresh{}) }} {
		none()
		if got := state(); got != "null" {
			t.Errorf("without a refresh /readyz has %s", got)
		}
		if n, err := testutil.GatherAndCount(opts.Registry, names...); n != 0 || err != nil {
			t.Errorf("without a refresh there are %d series, %v", n, err)
		}
	}

	began := time.Date(2026, 11, 20, 5, 0, 0, 0, time.UTC)
	first := data.Refresh{Turn: 2, LastAttempt: began, LastError: "the source cannot be reached", Failures: 1}
	s.DatabaseRefreshed(first)
	if got, want := state(), `{"last_attempt":"2026-11-20T05:00:00Z","last_success":null,"last_error":"the source cannot be reached","late_since":null,`+
		`"failures":1,"rows":{"added":0,"changed":0,"unchanged":0,"rejected":0},"rasters":null}`; got != want {
		t.Errorf("after a failure /readyz has %s, want %s", got, want)
	}
	if n, err := testutil.GatherAndCount(opts.Registry, names[0]); n != 0 || err != nil {
		t.Errorf("without a success there are %d series, %v", n, err)
	}

	s.DatabaseRefreshed(data.Refresh{
		Turn: 4, LastAttempt: began.Add(time.Hour), LastSuccess: began.Add(time.Hour + time.Minute),
		Rows: data.RefreshRows{Added: 5, Changed: 4, Unchanged: 3, Rejected: 2},
	})
	if got, want := state(), `{"last_attempt":"2026-11-20T06:00:00Z","last_success":"2026-11-20T06:01:00Z","last_error":null,"late_since":null,`+
		`"failures":0,"rows":{"added":5,"changed":4,"unchanged":3,"rejected":2},"rasters":null}`; got != want {
		t.Errorf("after a success /readyz has %s, want %s", got, want)
	}
	// A refresh is late if its tables have not arrived for more than a minute.
	for _, test := range []struct {
		began, succeeded time.Duration // before now
		leased, late     bool
	}{
		{61 * time.Second, time.Hour, true, true},
		{59 * time.Second, time.Hour, true, false},
		{61 * time.Second, 30 * time.Second, true, false}, // it reads satellite files
		{61 * time.Second, time.Hour, false, false},
	} {
		now := opts.Now()
		late := data.Refresh{Turn: 5, LastAttempt: now.Add(-test.began), LastSuccess: now.Add(-test.succeeded)}
		if test.leased {
			late.LeasedUntil = now.Add(time.Minute)
		}
		s.DatabaseRefreshed(late)
		if got := state(); strings.Contains(got, `"late_since":null`) == test.late {
			t.Errorf("a refresh of %+v: /readyz has %s", test, got)
		}
	}
	s.DatabaseRefreshed(data.Refresh{
		Turn: 4, LastAttempt: began.Add(time.Hour), LastSuccess: began.Add(time.Hour + time.Minute),
		Rows: data.RefreshRows{Added: 5, Changed: 4, Unchanged: 3, Rejected: 2},
	})
	want := `
# HELP limnomap_refresh_consecutive_failures Refreshes from the data's source that have failed in a row; 0 after one that succeeded.
# TYPE limnomap_refresh_consecutive_failures gauge
limnomap_refresh_consecutive_failures 0
# HELP limnomap_refresh_last_attempt_timestamp_seconds When the last refresh from the data's source began.
# TYPE limnomap_refresh_last_attempt_timestamp_seconds gauge
limnomap_refresh_last_attempt_timestamp_seconds 1.7951544e+09
# HELP limnomap_refresh_last_success_timestamp_seconds When the last refresh from the data's source that succeeded ended.
# TYPE limnomap_refresh_last_success_timestamp_seconds gauge
limnomap_refresh_last_success_timestamp_seconds 1.79515446e+09
# HELP limnomap_refresh_rows Rows of the last refresh that read any, by what became of them.
# TYPE limnomap_refresh_rows gauge
limnomap_refresh_rows{outcome="added"} 5
limnomap_refresh_rows{outcome="changed"} 4
limnomap_refresh_rows{outcome="rejected"} 2
limnomap_refresh_rows{outcome="unchanged"} 3
`
	if err := testutil.GatherAndCompare(opts.Registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(opts.Registry, names...)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	rasters := []string{
		"limnomap_refresh_rasters_total", "limnomap_refresh_raster_bytes_total", "limnomap_refresh_raster_last_taken_timestamp_seconds", "limnomap_refresh_raster_files",
	}
	if n, err := testutil.GatherAndCount(opts.Registry, rasters...); n != 0 || err != nil {
		t.Errorf("without satellite files there are %d series, %v", n, err)
	}
	failed := data.Refresh{Turn: 6, Rasters: data.RefreshRasters{Failed: 1, RasterCounts: data.RasterCounts{Failing: 1}}}
	s.DatabaseRefreshed(failed)
	if got, want := state(), `"rasters":{"taken":0,"failed":1,"bytes_read":0,"waiting":0,"failing":1,"skipped":0,"last_taken":null,"product":null,"date":null}}`; !strings.HasSuffix(got, want) {
		t.Errorf("after a file that failed /readyz has %s, want %s", got, want)
	}
	s.DatabaseRefreshed(data.Refresh{Turn: 8, Rasters: data.RefreshRasters{
		Taken: 5, Failed: 1, Bytes: 1 << 20, LastTaken: began, LastProduct: "Copernicus LWQ", LastDate: data.DateOf(began.AddDate(0, 0, -9)),
		RasterCounts: data.RasterCounts{Waiting: 2, Failing: 3, Skipped: 4},
	}})
	if got, want := state(), `"rasters":{"taken":5,"failed":1,"bytes_read":1048576,"waiting":2,"failing":3,"skipped":4,`+
		`"last_taken":"2026-11-20T05:00:00Z","product":"Copernicus LWQ","date":"2026-11-11"}}`; !strings.HasSuffix(got, want) {
		t.Errorf("with files /readyz has %s, want %s", got, want)
	}
	want = `
# HELP limnomap_refresh_raster_bytes_total Bytes read of the satellite files of the data's source, by all processes with this database.
# TYPE limnomap_refresh_raster_bytes_total counter
limnomap_refresh_raster_bytes_total 1.048576e+06
# HELP limnomap_refresh_raster_files Satellite files of the data's source after the last refresh: to be read by the next one (waiting), unusable (failing), too old to be read (skipped).
# TYPE limnomap_refresh_raster_files gauge
limnomap_refresh_raster_files{state="failing"} 3
limnomap_refresh_raster_files{state="skipped"} 4
limnomap_refresh_raster_files{state="waiting"} 2
# HELP limnomap_refresh_raster_last_taken_timestamp_seconds When values of a satellite file of the data's source were last imported.
# TYPE limnomap_refresh_raster_last_taken_timestamp_seconds gauge
limnomap_refresh_raster_last_taken_timestamp_seconds 1.7951508e+09
# HELP limnomap_refresh_rasters_total Satellite files of the data's source: values imported (taken), and attempts that failed, by all processes with this database.
# TYPE limnomap_refresh_rasters_total counter
limnomap_refresh_rasters_total{result="failed"} 1
limnomap_refresh_rasters_total{result="taken"} 5
`
	if err := testutil.GatherAndCompare(opts.Registry, strings.NewReader(want), rasters...); err != nil {
		t.Error(err)
	}
}
