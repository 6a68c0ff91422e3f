package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/data"
)

// A refreshState is the part of /readyz about the refreshes from the source of the data. Another process may have made them.
type refreshState struct {
	LastAttempt *string `json:"last_attempt"` // when it began
	LastSuccess *string `json:"last_success"` // when it ended
	// LastError is why the last one failed, in a few words without internals; null if it did not.
	LastError *string     `json:"last_error"`
	Failures  int         `json:"failures"` // in a row
	Rows      refreshRows `json:"rows"`
}

type refreshRows struct {
	Added     int64 `json:"added"`
	Changed   int64 `json:"changed"`
	Unchanged int64 `json:"unchanged"`
	Rejected  int64 `json:"rejected"`
}

func newRefreshState(r *data.Refresh) *refreshState {
	state := &refreshState{
		LastAttempt: timeText(r.LastAttempt),
		LastSuccess: timeText(r.LastSuccess),
		Failures:    r.Failures,
		Rows:        refreshRows(r.Rows),
	}
	if r.LastError != "" {
		state.LastError = &r.LastError
	}
	return state
}

// timeText returns t as answers write it, nil for the zero time.
func timeText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := string(appendTimeText(nil, t))
	return &text
}

// DatabaseRefreshed reports the state of the refreshes of the database from its source, for the body of /readyz and the metrics.
// SnapshotReloadFailed reports whether the server could load the refreshed data.
func (s *Server) DatabaseRefreshed(r data.Refresh) { s.health.refreshed.Store(&r) }

// A refreshCollector reports the refreshes from the source of the data; all values of one scrape are of one state. Before the
// first refresh it reports nothing, and it leaves out times that do not exist: an age since 1970 would look like one.
type refreshCollector struct {
	refreshed func() *data.Refresh // nil before the first report
}

var (
	refreshSuccess = prometheus.NewDesc("limnomap_refresh_last_success_timestamp_seconds",
		"When the last refresh from the data's source that succeeded ended.", nil, nil)
	refreshAttempt = prometheus.NewDesc("limnomap_refresh_last_attempt_timestamp_seconds",
		"When the last refresh from the data's source began.", nil, nil)
	refreshFailures = prometheus.NewDesc("limnomap_refresh_consecutive_failures",
		"Refreshes from the data's source that have failed in a row; 0 after one that succeeded.", nil, nil)
	refreshRowCount = prometheus.NewDesc("limnomap_refresh_rows",
		"Rows of the last refresh that read any, by what became of them.", []string{"outcome"}, nil)
)

// Describe implements prometheus.Collector.
func (c *refreshCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{refreshSuccess, refreshAttempt, refreshFailures, refreshRowCount} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *refreshCollector) Collect(ch chan<- prometheus.Metric) {
	r := c.refreshed()
	if r == nil || r.Turn == 0 {
		return
	}
	if !r.LastSuccess.IsZero() {
		gauge(ch, refreshSuccess, float64(r.LastSuccess.Unix()))
	}
	if !r.LastAttempt.IsZero() {
		gauge(ch, refreshAttempt, float64(r.LastAttempt.Unix()))
	}
	gauge(ch, refreshFailures, float64(r.Failures))
	gauge(ch, refreshRowCount, float64(r.Rows.Added), "added")
	gauge(ch, refreshRowCount, float64(r.Rows.Changed), "changed")
	gauge(ch, refreshRowCount, float64(r.Rows.Unchanged), "unchanged")
	gauge(ch, refreshRowCount, float64(r.Rows.Rejected), "rejected")
}
