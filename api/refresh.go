package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/data"
)

// A refreshState is what /readyz tells of the refreshes from the data's source. Any of them may have been made by another
// process.
type refreshState struct {
	LastAttempt *string `json:"last_attempt"` // when it began
	LastSuccess *string `json:"last_success"` // when it ended
	// LastError is why the last one failed, in a few words that tell nobody anything of the operator's; null if it did not.
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

// Refreshed tells what became of the refreshes of the database from its source: /readyz's body and the metrics say so.
func (s *Server) Refreshed(r data.Refresh) { s.refreshed.Store(&r) }

// A refreshCollector tells what became of the refreshes from the data's source, all in one gathering of the same moment.
// Before the first one it tells nothing, and of a time that never came neither: an age since 1970 would look like one.
type refreshCollector struct{ s *Server }

// refreshDescs describes the refreshes' metrics, in the order in which Collect sends them.
func refreshDescs() (success, attempt, failures, rows *prometheus.Desc) {
	return prometheus.NewDesc("limnomap_refresh_last_success_timestamp_seconds",
			"When the last refresh from the data's source that succeeded ended.", nil, nil),
		prometheus.NewDesc("limnomap_refresh_last_attempt_timestamp_seconds",
			"When the last refresh from the data's source began.", nil, nil),
		prometheus.NewDesc("limnomap_refresh_consecutive_failures",
			"Refreshes from the data's source that have failed in a row; 0 after one that succeeded.", nil, nil),
		prometheus.NewDesc("limnomap_refresh_rows",
			"Rows of the last refresh that read any, by what became of them.", []string{"outcome"}, nil)
}

// Describe implements prometheus.Collector.
func (c *refreshCollector) Describe(ch chan<- *prometheus.Desc) {
	success, attempt, failures, rows := refreshDescs()
	for _, d := range []*prometheus.Desc{success, attempt, failures, rows} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *refreshCollector) Collect(ch chan<- prometheus.Metric) {
	r := c.s.refreshed.Load()
	if r == nil || r.Turn == 0 {
		return
	}
	success, attempt, failures, rows := refreshDescs()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, moment := range []struct {
		desc *prometheus.Desc
		at   time.Time
	}{{success, r.LastSuccess}, {attempt, r.LastAttempt}} {
		if !moment.at.IsZero() {
			gauge(moment.desc, float64(moment.at.Unix()))
		}
	}
	gauge(failures, float64(r.Failures))
	gauge(rows, float64(r.Rows.Added), "added")
	gauge(rows, float64(r.Rows.Changed), "changed")
	gauge(rows, float64(r.Rows.Unchanged), "unchanged")
	gauge(rows, float64(r.Rows.Rejected), "rejected")
}
