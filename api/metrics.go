package api

import (
	"bytes"
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// registerMetrics registers the metrics of the server that are not those of its parts. Another user of the registry may have
// registered those of the process already.
func registerMetrics(h *health) {
	opts := &h.opts
	version := opts.Version
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = info.Main.Version
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "limnomap_build_info",
		Help: "Always 1; the labels tell what is running.",
	}, []string{"version", "go_version", "renderer"})
	build.WithLabelValues(version, runtime.Version(), opts.RendererVersion).Set(1)
	opts.Registry.MustRegister(build, h)
	auto := promauto.With(opts.Registry)
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_answer_memory_bytes",
		Help: "Memory of the answers made for one request each that are being sent.",
	}, func() float64 { return float64(opts.Memory.Used()) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_answer_memory_limit_bytes",
		Help: "How much memory those answers may take: an eighth of the memory limit.",
	}, func() float64 { return float64(opts.Memory.Total()) })
	auto.NewCounterFunc(prometheus.CounterOpts{
		Name: "limnomap_answer_memory_refused_total",
		Help: "How many times an answer was refused because it needed more of that memory than its client may have.",
	}, func() float64 { return float64(opts.Memory.Refused()) })
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		var already prometheus.AlreadyRegisteredError
		if err := opts.Registry.Register(c); err != nil && !errors.As(err, &already) {
			opts.Logger.Warn("process metrics are not exported", slog.Any("error", err))
		}
	}
}

var (
	snapshotAge = prometheus.NewDesc("limnomap_snapshot_age_seconds",
		"Time since the data that are served were last changed by an import.", nil, nil)
	snapshotStale = prometheus.NewDesc("limnomap_snapshot_stale_seconds",
		"Time since the data that are served were last known to be the newest: a second or two while their source answers.", nil, nil)
	newestObservation = prometheus.NewDesc("limnomap_newest_observation_timestamp_seconds",
		"Midnight UTC of the day of the newest measurement, in seconds since 1970.", nil, nil)
	snapshotInfo = prometheus.NewDesc("limnomap_snapshot_info",
		"Always 1; the label is the version of the snapshot that is served.", []string{"version"}, nil)
	snapshotRevision = prometheus.NewDesc("limnomap_snapshot_revision",
		"Number of the data's revision that is served.", nil, nil)
	snapshotLakes = prometheus.NewDesc("limnomap_lakes",
		"Lakes in the snapshot, with and without a current value.", []string{"state"}, nil)
	weekBytes = prometheus.NewDesc("limnomap_week_maps_bytes",
		"Memory of the maps of weeks, besides the current one, by who holds them: the snapshot, or requests, which may hold the same.", []string{"holder"}, nil)
	forecastIssued = prometheus.NewDesc("limnomap_forecast_issued_timestamp_seconds",
		"Midnight UTC of the day of issue of the newest forecasts of limnomap itself, in seconds since 1970.", nil, nil)
	forecastLakes = prometheus.NewDesc("limnomap_forecast_lakes",
		"Lakes with a forecast of the newest issue.", nil, nil)
	forecastWithheld = prometheus.NewDesc("limnomap_forecast_withheld_lakes",
		"Lakes without a forecast of the newest issue, by reason.", []string{"reason"}, nil)
	forecastStopped = prometheus.NewDesc("limnomap_forecast_stopped",
		"1 if no newer forecasts are made because those of past years were not worth showing, else 0.", nil, nil)
	refreshSuccess = prometheus.NewDesc("limnomap_refresh_last_success_timestamp_seconds",
		"When the last refresh from the data's source that succeeded ended.", nil, nil)
	refreshAttempt = prometheus.NewDesc("limnomap_refresh_last_attempt_timestamp_seconds",
		"When the last refresh from the data's source began.", nil, nil)
	refreshFailures = prometheus.NewDesc("limnomap_refresh_consecutive_failures",
		"Refreshes from the data's source that have failed in a row; 0 after one that succeeded.", nil, nil)
	refreshRowCount = prometheus.NewDesc("limnomap_refresh_rows",
		"Rows of the last refresh that read any, by what became of them.", []string{"outcome"}, nil)
	refreshRasterCount = prometheus.NewDesc("limnomap_refresh_rasters_total",
		"Satellite files of the data's source: values imported (taken), and attempts that failed, by all processes with this database.", []string{"result"}, nil)
	refreshRasterBytes = prometheus.NewDesc("limnomap_refresh_raster_bytes_total",
		"Bytes read of the satellite files of the data's source, by all processes with this database.", nil, nil)
	refreshRasterTaken = prometheus.NewDesc("limnomap_refresh_raster_last_taken_timestamp_seconds",
		"When values of a satellite file of the data's source were last imported.", nil, nil)
	refreshRasterFiles = prometheus.NewDesc("limnomap_refresh_raster_files",
		"Satellite files of the data's source after the last refresh: to be read by the next one (waiting), unusable (failing), too old to be read (skipped).", []string{"state"}, nil)
	webhookCount = prometheus.NewDesc("limnomap_webhooks",
		"Webhooks of the database, by state: their receivers take events (healthy), fail and are tried again (failing), are paused by the operator (paused), or have failed for too long (dead).", []string{"state"}, nil)
)

// Describe implements prometheus.Collector.
func (h *health) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		snapshotAge, snapshotStale, newestObservation, snapshotInfo, snapshotRevision, snapshotLakes, weekBytes,
		forecastIssued, forecastLakes, forecastWithheld, forecastStopped,
		refreshSuccess, refreshAttempt, refreshFailures, refreshRowCount,
		refreshRasterCount, refreshRasterBytes, refreshRasterTaken, refreshRasterFiles, webhookCount,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector: it reports the snapshot that is being served, and the refreshes from the source of
// the data. All values of one scrape are of one snapshot and of one refresh, which separate gauges would not guarantee.
func (h *health) Collect(ch chan<- prometheus.Metric) {
	if p := h.current.Load(); p != nil {
		h.collectSnapshot(ch, p.snap)
		collectForecast(ch, p.snap)
	}
	if r := h.refreshed.Load(); r != nil && r.Turn > 0 {
		collectRefresh(ch, r)
	}
	if w := h.webhooks.Load(); w != nil {
		gauge(ch, webhookCount, float64(w.Healthy), "healthy")
		gauge(ch, webhookCount, float64(w.Failing), "failing")
		gauge(ch, webhookCount, float64(w.Paused), "paused")
		gauge(ch, webhookCount, float64(len(w.Dead)), "dead")
	}
}

// collectSnapshot reports a snapshot.
func (h *health) collectSnapshot(ch chan<- prometheus.Metric, snap *snapshot.Snapshot) {
	if !snap.Revision.ChangedAt.IsZero() { // an age of two thousand years would only raise alarms
		gauge(ch, snapshotAge, h.opts.Now().Sub(snap.Revision.ChangedAt).Seconds())
	}
	if since, ok := h.freshness.Confirmed(); ok {
		gauge(ch, snapshotStale, max(h.opts.Now().Sub(since), 0).Seconds())
	}
	if len(snap.Weeks) > 0 { // else there is no observation, and 1970 would look like one
		gauge(ch, newestObservation, float64(snap.Current.AsOf.Time().Unix()))
	}
	gauge(ch, snapshotInfo, 1, snap.Version)
	gauge(ch, snapshotRevision, float64(snap.Revision.Number))
	with := 0
	if snap.Current != nil {
		with = snap.Current.WithData
	}
	gauge(ch, weekBytes, float64(snap.HeldBytes()), "snapshot")
	gauge(ch, weekBytes, float64(h.weeks.bytes()), "requests")
	gauge(ch, snapshotLakes, float64(with), "with_data")
	gauge(ch, snapshotLakes, float64(len(snap.Lakes)-with), "without_data")
}

// collectForecast reports the newest issue of the forecast, and whether a newer one is made. A server without forecasts has none of these.
func collectForecast(ch chan<- prometheus.Metric, snap *snapshot.Snapshot) {
	f := snap.Forecasts
	if f != nil {
		gauge(ch, forecastIssued, float64(f.Issue.Issued.Time().Unix()))
		gauge(ch, forecastLakes, float64(f.Issue.Counts.Lakes))
		withheld := f.Issue.Counts.WithheldOf(len(snap.Lakes))
		for _, r := range data.WithheldReasons() {
			gauge(ch, forecastWithheld, float64(withheld[r]), r.Code())
		}
	}
	switch {
	case snap.ForecastStopped() != "":
		gauge(ch, forecastStopped, 1)
	case f != nil || snap.ForecastTest.Model != "":
		gauge(ch, forecastStopped, 0)
	}
}

// collectRefresh reports the last refresh. It leaves out times that do not exist: an age since 1970 would look like one.
func collectRefresh(ch chan<- prometheus.Metric, r *data.Refresh) {
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
	if r.Rasters != (data.RefreshRasters{}) {
		collectRasters(ch, &r.Rasters)
	}
}

// collectRasters reports the satellite files of refreshes.
func collectRasters(ch chan<- prometheus.Metric, r *data.RefreshRasters) {
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	counter(refreshRasterCount, r.Taken, "taken")
	counter(refreshRasterCount, r.Failed, "failed")
	counter(refreshRasterBytes, r.Bytes)
	if !r.LastTaken.IsZero() {
		gauge(ch, refreshRasterTaken, float64(r.LastTaken.Unix()))
	}
	gauge(ch, refreshRasterFiles, float64(r.Waiting), "waiting")
	gauge(ch, refreshRasterFiles, float64(r.Failing), "failing")
	gauge(ch, refreshRasterFiles, float64(r.Skipped), "skipped")
}

// gauge sends a gauge with that value.
func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// exposition returns the handler of /metrics. Each answer differs, so they have no entity tag. They are text, or protobuf for a
// client that accepts it, such as a Prometheus that reads native histograms: only protobuf has these. One is made at a time, and
// counts as memory of answers until it is sent.
func exposition(opts *Options) answer.Handler {
	var gathering sync.Mutex
	h := promhttp.HandlerFor(opts.Registry, promhttp.HandlerOpts{Registry: opts.Registry})
	return func(w http.ResponseWriter, r *http.Request) error {
		made := heldAnswer{header: w.Header()}
		gathering.Lock()
		h.ServeHTTP(&made, r)
		gathering.Unlock()
		hold, err := opts.Memory.Hold(answer.ClientOf(r), int64(made.body.Cap()))
		if err != nil {
			for name := range w.Header() {
				if strings.HasPrefix(name, "Content-") {
					w.Header().Del(name)
				}
			}
			return err
		}
		defer hold.Release()
		w.Header().Set("Cache-Control", answer.CacheNever)
		w.WriteHeader(cmp.Or(made.status, http.StatusOK))
		_, _ = w.Write(made.body.Bytes()) // an error means that the client left
		return nil
	}
}

// A heldAnswer is an answer that is sent later. Its header is that of the answer to come.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *heldAnswer) Header() http.Header         { return a.header }
func (a *heldAnswer) WriteHeader(status int)      { a.status = status }
func (a *heldAnswer) Write(b []byte) (int, error) { return a.body.Write(b) }
