package api

import (
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api/answer"
	"limnomap/data"
)

// metrics are the figures of this package. Every label comes from a closed list of our own: route names, four
// methods, status codes, the names of the limits.
type metrics struct {
	now       func() time.Time
	contact   *contact // set before the first gathering; nil if nobody confirms the data
	requests  *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	limited   *prometheus.CounterVec
	refusals  [len(refusalNames)]prometheus.Counter // of requests to keyed endpoints
	failures  prometheus.Counter
	buildInfo *prometheus.GaugeVec
	snapshot  atomic.Pointer[data.Snapshot]
	codes     [600]string // the texts of the status codes, so that no request formats one
}

// Each histogram, that of package tiles too, is kept as a native one as well, which a Prometheus that asks for protobuf gets
// beside the classic buckets.
const (
	// nativeFactor bounds how much wider each bucket is than the one before; 2^(1/8) is taken. A quantile is known to 5 %.
	nativeFactor = 1.1
	// nativeBuckets bounds what a series holds. From 0.1 ms to 10 s there are 133 of those buckets.
	nativeBuckets = 160
	// nativeReset is the age at which a series with too many buckets begins anew. A younger one gets wider buckets.
	nativeReset = time.Hour
)

// newMetrics returns the metrics, registered with reg. It panics when reg has metrics of these names already: each
// server needs a registry of its own.
func newMetrics(reg prometheus.Registerer, now func() time.Time) *metrics {
	m := &metrics{
		now: now,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "limnomap_http_requests_total",
			Help: "Requests answered, by route, method and status code.",
		}, []string{"route", "method", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "limnomap_http_request_duration_seconds",
			Help: "Time from the arrival of a request to the end of its answer, by route.",
			// A cached tile takes well under a millisecond; an answer over 10 s has failed.
			Buckets:                         []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
			NativeHistogramBucketFactor:     nativeFactor,
			NativeHistogramMaxBucketNumber:  nativeBuckets,
			NativeHistogramMinResetDuration: nativeReset,
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "limnomap_http_requests_in_flight",
			Help: "Requests being answered now.",
		}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "limnomap_rate_limited_total",
			Help: "Requests refused with 429, by the limit that they met.",
		}, []string{"limit"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "limnomap_snapshot_refresh_failures_total",
			Help: "Attempts to load a newer snapshot that failed; the last good one was kept.",
		}),
		buildInfo: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "limnomap_build_info",
			Help: "Always 1; the labels tell what is running.",
		}, []string{"version", "go_version", "renderer"}),
	}
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "limnomap_key_refused_total",
		Help: "Requests to keyed endpoints that were refused: without a key, with one that is wrong (unknown, revoked or expired), after too many wrong ones of their address (throttled), or with one that lacks the scope.",
	}, []string{"reason"})
	for reason, name := range refusalNames {
		m.refusals[reason] = refusals.WithLabelValues(name)
	}
	for code := range m.codes {
		m.codes[code] = strconv.Itoa(code)
	}
	reg.MustRegister(m.requests, m.duration, m.inFlight, m.limited, m.failures, m.buildInfo, refusals, &snapshotCollector{m})
	return m
}

// build tells the versions that run.
func (m *metrics) build(version, renderer string) {
	m.buildInfo.WithLabelValues(version, runtime.Version(), renderer).Set(1)
}

// published tells of a new snapshot.
func (m *metrics) published(snap *data.Snapshot) { m.snapshot.Store(snap) }

// refreshFailed counts a newer snapshot that could not be loaded.
func (m *metrics) refreshFailed() { m.failures.Inc() }

// keyRefused counts a refused request to a keyed endpoint.
func (m *metrics) keyRefused(why refusal) { m.refusals[why].Inc() }

// watch counts what l refuses. It has to be called before l's first request.
func (m *metrics) watch(l *limiter) { l.refused = m.limited.WithLabelValues(l.name).Inc }

// instrument counts and times the requests of one route. The name is the route's own, never a part of the address.
func (m *metrics) instrument(route string, h http.Handler) http.Handler {
	counters := &routeCounters{vec: m.requests.MustCurryWith(prometheus.Labels{"route": route}), m: m}
	for _, status := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		counters.of(http.MethodGet, status) // from zero on: of a counter that begins at one, the first failure is no increase
	}
	duration := m.duration.WithLabelValues(route)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := m.arrival(r)
		tw := answer.Track(w)
		m.inFlight.Inc()
		returned := false
		// Deferred, so that a request whose handler panics is counted too.
		defer func() {
			m.inFlight.Dec()
			status := tw.Status
			if status == 0 {
				// What net/http, or recoverPanics around us, is about to answer.
				if status = http.StatusOK; !returned {
					status = http.StatusInternalServerError
				}
			}
			counters.of(r.Method, status).Inc()
			duration.Observe(m.now().Sub(start).Seconds())
		}()
		h.ServeHTTP(tw, r)
		returned = true
	})
}

// arrival returns when r came in: a clock that was read for it already is not read again.
func (m *metrics) arrival(r *http.Request) time.Time {
	if info := answer.InfoOf(r); info != nil && !info.Start.IsZero() {
		return info.Start
	}
	return m.now()
}

// routeCounters are the counters of one route. Those of GET, which nearly all requests are, are looked up by their
// labels once and then by their status.
type routeCounters struct {
	vec *prometheus.CounterVec
	m   *metrics
	get [len(metrics{}.codes)]atomic.Pointer[prometheus.Counter]
}

// of returns the counter of requests with that method that were answered with that status.
func (c *routeCounters) of(method string, status int) prometheus.Counter {
	if method != http.MethodGet || status < 0 || status >= len(c.get) {
		return c.vec.WithLabelValues(methodClass(method), c.m.code(status))
	}
	if known := c.get[status].Load(); known != nil {
		return *known
	}
	counter := c.vec.WithLabelValues(method, c.m.code(status))
	c.get[status].Store(&counter)
	return counter
}

func (m *metrics) code(status int) string {
	if status < 0 || status >= len(m.codes) {
		return "other"
	}
	return m.codes[status]
}

// methodClass returns a label for a method, which a client may choose freely.
func methodClass(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return method
	}
	return "other"
}

// A snapshotCollector tells of the snapshot that is being served. Everything in one gathering is of one snapshot,
// which gauges set one after the other would not promise. Before the first snapshot it tells nothing.
type snapshotCollector struct{ m *metrics }

// snapshotDescs describes the snapshot's metrics, in the order in which Collect sends them.
func snapshotDescs() (age, stale, newest, info, revision, lakes *prometheus.Desc) {
	return prometheus.NewDesc("limnomap_snapshot_age_seconds",
			"Time since the data that are served were last changed by an import.", nil, nil),
		prometheus.NewDesc("limnomap_snapshot_stale_seconds",
			"Time since the data that are served were last known to be the newest: a second or two while their source answers.", nil, nil),
		prometheus.NewDesc("limnomap_newest_observation_timestamp_seconds",
			"Midnight UTC of the day of the newest satellite observation, in seconds since 1970.", nil, nil),
		prometheus.NewDesc("limnomap_snapshot_info",
			"Always 1; the label is the version of the snapshot that is served.", []string{"version"}, nil),
		prometheus.NewDesc("limnomap_snapshot_revision",
			"Number of the data's revision that is served.", nil, nil),
		prometheus.NewDesc("limnomap_lakes",
			"Lakes in the snapshot, with and without a current value.", []string{"state"}, nil)
}

// Describe implements prometheus.Collector.
func (c *snapshotCollector) Describe(ch chan<- *prometheus.Desc) {
	age, stale, newest, info, revision, lakes := snapshotDescs()
	for _, d := range []*prometheus.Desc{age, stale, newest, info, revision, lakes} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *snapshotCollector) Collect(ch chan<- prometheus.Metric) {
	snap := c.m.snapshot.Load()
	if snap == nil {
		return
	}
	age, stale, newest, info, revision, lakes := snapshotDescs()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if !snap.Revision.ChangedAt.IsZero() { // an age of two thousand years would only raise alarms
		gauge(age, c.m.now().Sub(snap.Revision.ChangedAt).Seconds())
	}
	if c.m.contact != nil {
		if since, ok := c.m.contact.last(); ok {
			gauge(stale, max(c.m.now().Sub(since), 0).Seconds())
		}
	}
	if len(snap.Weeks) > 0 { // else there is no observation, and 1970 would look like one
		gauge(newest, float64(snap.Current.AsOf.Time().Unix()))
	}
	gauge(info, 1, snap.Version)
	gauge(revision, float64(snap.Revision.Number))
	with := 0
	if snap.Current != nil {
		with = snap.Current.WithData
	}
	gauge(lakes, float64(with), "with_data")
	gauge(lakes, float64(len(snap.Lakes)-with), "without_data")
}
