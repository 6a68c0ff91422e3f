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
	if got, want := state(), `{"last_attempt":"2026-11-20T05:00:00Z","last_success":null,"last_error":"the source cannot be reached",`+
		`"failures":1,"rows":{"added":0,"changed":0,"unchanged":0,"rejected":0}}`; got != want {
		t.Errorf("after a failure /readyz has %s, want %s", got, want)
	}
	if n, err := testutil.GatherAndCount(opts.Registry, names[0]); n != 0 || err != nil {
		t.Errorf("without a success there are %d series, %v", n, err)
	}

	s.DatabaseRefreshed(data.Refresh{
		Turn: 4, LastAttempt: began.Add(time.Hour), LastSuccess: began.Add(time.Hour + time.Minute),
		Rows: data.RefreshRows{Added: 5, Changed: 4, Unchanged: 3, Rejected: 2},
	})
	if got, want := state(), `{"last_attempt":"2026-11-20T06:00:00Z","last_success":"2026-11-20T06:01:00Z","last_error":null,`+
		`"failures":0,"rows":{"added":5,"changed":4,"unchanged":3,"rejected":2}}`; got != want {
		t.Errorf("after a success /readyz has %s, want %s", got, want)
	}
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
}
