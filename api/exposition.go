package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"limnomap/api/answer"
)

// exposition returns the handler of /metrics. Each answer differs, so they have no entity tag. They are text, or protobuf for a
// client that accepts it, such as a Prometheus that reads native histograms: only protobuf has these.
func exposition(registry *prometheus.Registry) answer.Handler {
	h := promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", answer.CacheNever)
		h.ServeHTTP(w, r)
		return nil
	}
}
