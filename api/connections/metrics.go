package connections

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Reasons for refusing a connection, and for closing one early, which are values of labels.
const (
	ofAddress = "address"
	ofNetwork = "network"
	ofTotal   = "total"
	ofCrowd   = "crowded" // only for closing
)

type metrics struct {
	refused, closedEarly *prometheus.CounterVec
	slowed               prometheus.Counter
	open, most           *prometheus.Desc
}

// newMetrics returns the metrics of the listener with that name, and registers its counters.
func newMetrics(name string, reg prometheus.Registerer) *metrics {
	listener, auto := prometheus.Labels{"listener": name}, promauto.With(reg)
	m := &metrics{
		refused: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "limnomap_connections_refused_total",
			Help: "Connections closed as soon as they were accepted, by the bound that they met: " +
				"of their address (IPv6: its /64), of their network (IPv6: its /48), or in total.",
			ConstLabels: listener,
		}, []string{"reason"}),
		closedEarly: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "limnomap_connections_closed_early_total",
			Help: "Connections closed to make room for a new one, while they waited for a request or (Linux) their client took no data: " +
				"within the bound of their address, network or the total, or because the server is crowded (three quarters).",
			ConstLabels: listener,
		}, []string{"reason"}),
		slowed: auto.NewCounter(prometheus.CounterOpts{
			Name:        "limnomap_connections_slowed_total",
			Help:        "Connections that sent so much that they were read more slowly: they may send 32 KiB a second, those of an address 256 KiB, and those of a /48 of IPv6 1 MiB.",
			ConstLabels: listener,
		}),
		open: prometheus.NewDesc("limnomap_connections",
			"Open connections: without a request yet (new), waiting for the next one (idle), being answered (active).", []string{"state"}, listener),
		most: prometheus.NewDesc("limnomap_connections_max",
			"How many connections may be open in total.", nil, listener),
	}
	// These start at zero: a counter that appears with the value one shows no increase for the first event.
	for _, reason := range []string{ofAddress, ofNetwork, ofTotal} {
		m.refused.WithLabelValues(reason)
		m.closedEarly.WithLabelValues(reason)
	}
	m.closedEarly.WithLabelValues(ofCrowd)
	return m
}

// Describe implements prometheus.Collector. It describes nothing, since newMetrics registers the counters.
func (l *Limiter) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector: it reports the open connections.
func (l *Limiter) Collect(ch chan<- prometheus.Metric) {
	states, most := l.states()
	for state, n := range states {
		ch <- prometheus.MustNewConstMetric(l.metrics.open, prometheus.GaugeValue, float64(n), state)
	}
	ch <- prometheus.MustNewConstMetric(l.metrics.most, prometheus.GaugeValue, float64(most))
}

// states counts the open connections by state, rather than at each change of a state, which is in the path of each request.
func (l *Limiter) states() (states map[string]int, most int) {
	states = map[string]int{"new": 0, "idle": 0, "active": 0}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.all.conns {
		switch state := c.state.Load(); {
		case state == answering:
			states["active"]++
		case state == closed: // it is about to be removed
		case state&usedBit != 0:
			states["idle"]++
		default:
			states["new"]++
		}
	}
	return states, l.bounds.Total
}
