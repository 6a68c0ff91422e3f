package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data"
)

// What /readyz and the metrics say about forecasts: without any, with an issue, stopped before and after the first issue, and forced.
func TestForecastsInHealth(t *testing.T) {
	const fault = "week 1: the error 0.5 is not below that of persistence, 0.4"
	failed := data.ForecastTest{Model: "limnomap-1", Date: data.Known(date(t, "2026-11-17")), Fault: fault}
	const issued = `
# HELP limnomap_forecast_issued_timestamp_seconds Midnight UTC of the day of issue of the newest forecasts of limnomap itself, in seconds since 1970.
# TYPE limnomap_forecast_issued_timestamp_seconds gauge
limnomap_forecast_issued_timestamp_seconds 1.7947872e+09
# HELP limnomap_forecast_lakes Lakes with a forecast of the newest issue.
# TYPE limnomap_forecast_lakes gauge
limnomap_forecast_lakes 2
# HELP limnomap_forecast_withheld_lakes Lakes without a forecast of the newest issue, by reason.
# TYPE limnomap_forecast_withheld_lakes gauge
limnomap_forecast_withheld_lakes{reason="few_values"} 5
limnomap_forecast_withheld_lakes{reason="last_value_better"} 0
limnomap_forecast_withheld_lakes{reason="old_value"} 1
limnomap_forecast_withheld_lakes{reason="out_of_season"} 0
`
	const stopped = `
# HELP limnomap_forecast_stopped 1 if no newer forecasts are made because those of past years were not worth showing, else 0.
# TYPE limnomap_forecast_stopped gauge
limnomap_forecast_stopped `
	for _, test := range []struct {
		name           string
		change         func(*fakeSource)
		state, metrics string
	}{
		{"none", func(f *fakeSource) { f.issues, f.test = nil, data.ForecastTest{} }, `null`, ``},
		{"tested only", func(f *fakeSource) { f.issues = nil }, `null`, stopped + "0\n"},
		{"issued", func(*fakeSource) {}, `{"issued_at":"2026-11-16","lakes":2,"withheld":6,"stopped":null}`, issued + stopped + "0\n"},
		{"stopped before the first issue", func(f *fakeSource) { f.issues, f.test = nil, failed },
			`{"issued_at":null,"lakes":0,"withheld":0,"stopped":"` + fault + `"}`, stopped + "1\n"},
		{"stopped after an issue", func(f *fakeSource) { f.test = failed },
			`{"issued_at":"2026-11-16","lakes":2,"withheld":6,"stopped":"` + fault + `"}`, issued + stopped + "1\n"},
		{"forced", func(f *fakeSource) { f.test = failed; f.test.Date = data.Known(f.issues[0].Issued) },
			`{"issued_at":"2026-11-16","lakes":2,"withheld":6,"stopped":null}`, issued + stopped + "0\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source, opts := forecastSource(t), testOptions(t)
			test.change(source)
			opts.Registry = prometheus.NewPedanticRegistry()
			s := newServer(t, opts, source)
			var body struct{ Forecast json.RawMessage }
			w := get(t, s, http.StatusOK, "/readyz")
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || string(body.Forecast) != test.state {
				t.Errorf("/readyz has %s, %v\nwant %s", body.Forecast, err, test.state)
			}
			wantDescribed(t, descriptionRouter(t), "/readyz", w)
			names := []string{"limnomap_forecast_issued_timestamp_seconds", "limnomap_forecast_lakes", "limnomap_forecast_withheld_lakes", "limnomap_forecast_stopped"}
			if err := testutil.GatherAndCompare(opts.Registry, strings.NewReader(test.metrics), names...); err != nil {
				t.Error(err)
			}
			if problems, err := testutil.GatherAndLint(opts.Registry, names...); err != nil || len(problems) > 0 {
				t.Errorf("lint: %v, %v", problems, err)
			}
		})
	}
}
