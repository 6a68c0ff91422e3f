package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"limnomap/api/answer"
)

// exposition returns the handler of /metrics. Its answers are never the same, so they have no ETag. They are text, or protobuf
// for clients that accept it: native histograms exist only in protobuf.
func (s *Server) exposition() answer.Handler {
	h := promhttp.HandlerFor(s.opts.Registry, promhttp.HandlerOpts{Registry: s.opts.Registry})
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", answer.CacheNever)
		h.ServeHTTP(w, r)
		return nil
	}
}
