package middleware

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api/answer"
)

// Metrics count and time requests. Every label comes from a closed list: route names, methods and status codes.
type Metrics struct {
	now      func() time.Time
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// The histogram is also exposed as a native histogram, to a Prometheus that asks for protobuf.
const (
	// nativeFactor bounds how much wider each bucket is than the one before; 2^(1/8) is used. The error of a quantile is 5 %.
	nativeFactor = 1.1
	// NativeBuckets bounds the size of a series. From 0.1 ms to 10 s there are 133 buckets.
	NativeBuckets = 160
	// nativeReset is the age at which a series with too many buckets is reset. A younger one gets wider buckets.
	nativeReset = time.Hour
)

// NewMetrics returns metrics that are registered with reg. It panics if reg has metrics of these names: each server needs a
// registry of its own.
func NewMetrics(reg prometheus.Registerer, now func() time.Time) *Metrics {
	auto := promauto.With(reg)
	return &Metrics{
		now: now,
		requests: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "limnomap_http_requests_total",
			Help: "Requests answered, by route, method and status code.",
		}, []string{"route", "method", "code"}),
		duration: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "limnomap_http_request_duration_seconds",
			Help: "Time from the arrival of a request to the end of its answer, by route.",
			// A cached tile takes well under a millisecond; an answer over 10 s has failed.
			Buckets:                         []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
			NativeHistogramBucketFactor:     nativeFactor,
			NativeHistogramMaxBucketNumber:  NativeBuckets,
			NativeHistogramMinResetDuration: nativeReset,
		}, []string{"route"}),
		inFlight: auto.NewGauge(prometheus.GaugeOpts{
			Name: "limnomap_http_requests_in_flight",
			Help: "Requests being answered now.",
		}),
	}
}

// Route returns middleware that counts and times the requests of a route. The name must not be taken from the address.
func (m *Metrics) Route(route string) Middleware {
	requests := m.requests.MustCurryWith(prometheus.Labels{"route": route})
	// These start at zero: a counter that appears with the value one shows no increase for the first failure.
	for _, status := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		requests.WithLabelValues(http.MethodGet, codeClass(status))
	}
	duration := m.duration.WithLabelValues(route)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := arrival(r, m.now)
			tw := answer.Track(w)
			m.inFlight.Inc()
			returned := false
			// Deferred, so that a request whose handler panics is counted too.
			defer func() {
				m.inFlight.Dec()
				requests.WithLabelValues(methodClass(r.Method), codeClass(finalStatus(tw, returned))).Inc()
				duration.Observe(m.now().Sub(start).Seconds())
			}()
			next.ServeHTTP(tw, r)
			returned = true
		})
	}
}

// arrival returns when r came in. If the access log has read the clock already, it is not read again.
func arrival(r *http.Request, now func() time.Time) time.Time {
	if start := answer.InfoOf(r).Start; !start.IsZero() {
		return start
	}
	return now()
}

// finalStatus returns the status of an answer when its handler has ended. If the handler wrote nothing, net/http sends 200
// after it returned, and Recover 500 after it panicked.
func finalStatus(w *answer.Writer, returned bool) int {
	switch {
	case w.Status != 0:
		return w.Status
	case returned:
		return http.StatusOK
	}
	return http.StatusInternalServerError
}

// statuses is how many statuses are counted separately, from 0.
const statuses = 600

// statusLabels are the labels of these statuses.
var statusLabels = func() (labels [statuses]string) {
	for status := range labels {
		labels[status] = strconv.Itoa(status)
	}
	return labels
}()

// codeClass returns a label for a status.
func codeClass(status int) string {
	if status < 0 || status >= statuses {
		return "other"
	}
	return statusLabels[status]
}

// methodClass returns a label for a method: clients may send any text.
func methodClass(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return method
	}
	return "other"
}
