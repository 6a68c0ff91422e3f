package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"limnomap/api/answer"
)

// exposition returns the handler of /metrics. Its answers differ at each call, so they bear no tag. They are text, or
// protobuf for who accepts it, as a Prometheus does that takes native histograms: only there are these to be had.
func (s *Server) exposition() answer.Handler {
	h := promhttp.HandlerFor(s.opts.Registry, promhttp.HandlerOpts{Registry: s.opts.Registry})
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", answer.CacheNever)
		h.ServeHTTP(w, r)
		return nil
	}
}
