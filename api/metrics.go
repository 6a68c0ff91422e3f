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
	"limnomap/data/accuracy"
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

// Describe implements prometheus.Collector. It describes nothing, since which metrics there are depends on the data.
func (h *health) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector: it reports the snapshot that is being served, and the refreshes from the source of
// the data. All values of one scrape are of one snapshot and of one refresh, which separate gauges would not guarantee.
func (h *health) Collect(ch chan<- prometheus.Metric) {
	m := measured(ch)
	if p := h.current.Load(); p != nil {
		h.collectSnapshot(m, p.snap)
		m.collectForecast(p.snap)
	}
	if l := h.ledgers.newest.Load(); l != nil {
		m.collectAccuracy(l.Ledger)
	}
	if r := h.refreshed.Load(); r != nil && r.Turn > 0 {
		m.collectRefresh(r)
	}
	if w := h.webhooks.Load(); w != nil {
		const help = "Webhooks of the database, by state: their receivers take events (healthy), fail and are tried again (failing), are paused by the operator (paused), or have failed for too long (dead)."
		m.gauge("limnomap_webhooks", help, float64(w.Healthy), "state", "healthy")
		m.gauge("limnomap_webhooks", help, float64(w.Failing), "state", "failing")
		m.gauge("limnomap_webhooks", help, float64(w.Paused), "state", "paused")
		m.gauge("limnomap_webhooks", help, float64(len(w.Dead)), "state", "dead")
	}
}

// measured takes the metrics of a scrape.
type measured chan<- prometheus.Metric

// gauge sends a gauge with that value, and a label if a name and a value of one are given.
func (m measured) gauge(name, help string, v float64, label ...string) {
	m.send(prometheus.GaugeValue, name, help, v, label)
}

// counter sends a counter.
func (m measured) counter(name, help string, n int64, label ...string) {
	m.send(prometheus.CounterValue, name, help, float64(n), label)
}

func (m measured) send(kind prometheus.ValueType, name, help string, v float64, label []string) {
	var names, values []string
	if len(label) > 0 {
		names, values = label[:1], label[1:]
	}
	m <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, v, values...)
}

// collectSnapshot reports a snapshot.
func (h *health) collectSnapshot(m measured, snap *snapshot.Snapshot) {
	if !snap.Revision.ChangedAt.IsZero() { // an age of two thousand years would only raise alarms
		m.gauge("limnomap_snapshot_age_seconds", "Time since the data that are served were last changed by an import.",
			h.opts.Now().Sub(snap.Revision.ChangedAt).Seconds())
	}
	if since, ok := h.freshness.Confirmed(); ok {
		m.gauge("limnomap_snapshot_stale_seconds", "Time since the data that are served were last known to be the newest: a second or two while their source answers.",
			max(h.opts.Now().Sub(since), 0).Seconds())
	}
	if newest, ok := snap.Newest(snap.Current.Week); ok { // else 1970 would look like one
		m.gauge("limnomap_newest_observation_timestamp_seconds", "Midnight UTC of the day of the newest measurement, in seconds since 1970.",
			float64(newest.Time().Unix()))
	}
	m.gauge("limnomap_snapshot_info", "Always 1; the label is the version of the snapshot that is served.", 1, "version", snap.Version)
	m.gauge("limnomap_snapshot_revision", "Number of the data's revision that is served.", float64(snap.Revision.Number))
	const heldHelp = "Memory of the maps of weeks, besides the current one, by who holds them: the snapshot, or requests, which may hold the same."
	m.gauge("limnomap_week_maps_bytes", heldHelp, float64(snap.HeldBytes()), "holder", "snapshot")
	m.gauge("limnomap_week_maps_bytes", heldHelp, float64(h.weeks.bytes()), "holder", "requests")
	with := 0
	if snap.Current != nil {
		with = snap.Current.WithData
	}
	const lakesHelp = "Lakes in the snapshot, with and without a current value."
	m.gauge("limnomap_lakes", lakesHelp, float64(with), "state", "with_data")
	m.gauge("limnomap_lakes", lakesHelp, float64(len(snap.Lakes)-with), "state", "without_data")
}

// collectAccuracy reports how often each product was right.
func (m measured) collectAccuracy(l *accuracy.Ledger) {
	for _, g := range l.Groups(accuracy.ByProduct) {
		biased := 0.0
		if g.Biased {
			biased = 1
		}
		m.gauge("limnomap_accuracy_match_ups", "Passes of a product with a sample of the same lake at most --match-days apart.", float64(g.Matches), "product", g.Product)
		m.gauge("limnomap_accuracy_factor", "By which factor a product shows more chlorophyll than samples have: 2 is twice as much.", g.Factor(), "product", g.Product)
		m.gauge("limnomap_accuracy_within_factor_2_ratio", "Share of these match-ups whose values are within a factor of 2 of each other.", float64(g.Within)/float64(g.Matches), "product", g.Product)
		m.gauge("limnomap_accuracy_biased", "1 if the values of a product are biased by a factor of 1.25 or more, by a t-test at 1 % of the means of ten lakes or more; else 0.", biased, "product", g.Product)
		m.gauge("limnomap_accuracy_biased_lakes", "Lakes at which the values of a product are biased, by the same test of ten match-ups or more.", float64(l.Biases(g.Product)), "product", g.Product)
	}
}

// collectForecast reports the newest issue of the forecast, and whether a newer one is made. A server without forecasts has none of these.
func (m measured) collectForecast(snap *snapshot.Snapshot) {
	f := snap.Forecasts
	if f != nil {
		m.gauge("limnomap_forecast_issued_timestamp_seconds", "Midnight UTC of the day of issue of the newest forecasts of limnomap itself, in seconds since 1970.",
			float64(f.Issue.Issued.Time().Unix()))
		m.gauge("limnomap_forecast_lakes", "Lakes with a forecast of the newest issue.", float64(f.Issue.Counts.Lakes))
		withheld := f.Issue.Counts.WithheldOf(len(snap.Lakes))
		for _, r := range data.WithheldReasons() {
			m.gauge("limnomap_forecast_withheld_lakes", "Lakes without a forecast of the newest issue, by reason.", float64(withheld[r]), "reason", r.Code())
		}
	}
	const help = "1 if no newer forecasts are made because those of past years were not worth showing, else 0."
	switch {
	case snap.ForecastStopped() != "":
		m.gauge("limnomap_forecast_stopped", help, 1)
	case f != nil || snap.ForecastTest.Model != "":
		m.gauge("limnomap_forecast_stopped", help, 0)
	}
}

// collectRefresh reports the last refresh. It leaves out times that do not exist: an age since 1970 would look like one.
func (m measured) collectRefresh(r *data.Refresh) {
	if !r.LastSuccess.IsZero() {
		m.gauge("limnomap_refresh_last_success_timestamp_seconds", "When the last refresh from the data's source that succeeded ended.", float64(r.LastSuccess.Unix()))
	}
	if !r.LastAttempt.IsZero() {
		m.gauge("limnomap_refresh_last_attempt_timestamp_seconds", "When the last refresh from the data's source began.", float64(r.LastAttempt.Unix()))
	}
	m.gauge("limnomap_refresh_consecutive_failures", "Refreshes from the data's source that have failed in a row; 0 after one that succeeded.", float64(r.Failures))
	const help = "Rows of the last refresh that read any, by what became of them."
	m.gauge("limnomap_refresh_rows", help, float64(r.Rows.Added), "outcome", "added")
	m.gauge("limnomap_refresh_rows", help, float64(r.Rows.Changed), "outcome", "changed")
	m.gauge("limnomap_refresh_rows", help, float64(r.Rows.Unchanged), "outcome", "unchanged")
	m.gauge("limnomap_refresh_rows", help, float64(r.Rows.Rejected), "outcome", "rejected")
	if r.Rasters != (data.RefreshRasters{}) {
		m.collectRasters(&r.Rasters)
	}
}

// collectRasters reports the satellite files of refreshes.
func (m measured) collectRasters(r *data.RefreshRasters) {
	const countHelp = "Satellite files of the data's source: values imported (taken), and attempts that failed, by all processes with this database."
	m.counter("limnomap_refresh_rasters_total", countHelp, r.Taken, "result", "taken")
	m.counter("limnomap_refresh_rasters_total", countHelp, r.Failed, "result", "failed")
	m.counter("limnomap_refresh_raster_bytes_total", "Bytes read of the satellite files of the data's source, by all processes with this database.", r.Bytes)
	if !r.LastTaken.IsZero() {
		m.gauge("limnomap_refresh_raster_last_taken_timestamp_seconds", "When values of a satellite file of the data's source were last imported.", float64(r.LastTaken.Unix()))
	}
	const help = "Satellite files of the data's source after the last refresh: to be read by the next one (waiting), unusable (failing), too old to be read (skipped)."
	m.gauge("limnomap_refresh_raster_files", help, float64(r.Waiting), "state", "waiting")
	m.gauge("limnomap_refresh_raster_files", help, float64(r.Failing), "state", "failing")
	m.gauge("limnomap_refresh_raster_files", help, float64(r.Skipped), "state", "skipped")
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
