package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"limnomap/data"
	"limnomap/tiles"
)

var (
	// errNoSnapshot is returned for everything that shows data, before the first snapshot is published.
	errNoSnapshot = errors.New("no data have been loaded yet")
	// errStore is returned for what only the store knows, while it fails.
	errStore = errors.New("the store has no answer")
	// errNotFound is returned for a path that names nothing.
	errNotFound = errors.New("nothing has this address")
)

// A handler answers a request, or returns an error before it has written anything.
type handler func(w http.ResponseWriter, r *http.Request) error

// problemOf returns how a client sees err: this is the table of all errors that are not a 500. Its second result is
// false for an error whose text only the log may show.
func problemOf(err error) (p *problem, told bool) {
	if errors.As(err, &p) {
		return p, true
	}
	for _, row := range []struct {
		err        error
		status     int
		detail     string
		retryAfter string
	}{
		{err: errNotFound, status: http.StatusNotFound, detail: "Nothing has this address; openapi.json lists what there is."},
		{err: data.ErrNoLake, status: http.StatusNotFound, detail: "No lake has this id."},
		{err: tiles.ErrOutOfRange, status: http.StatusNotFound, detail: "No tile has this address."},
		{err: errNotAcceptable, status: http.StatusNotAcceptable, detail: "Accept-Encoding allows none of br, zstd, gzip and identity."},
		// A tile takes milliseconds to draw, so the queue is short again in a second.
		{err: tiles.ErrBusy, status: http.StatusServiceUnavailable, detail: "Too many tiles are waiting to be drawn.", retryAfter: "1"},
		{err: errLongLists, status: http.StatusServiceUnavailable, detail: "Too many long lists of lakes are being made.", retryAfter: "10"},
		{err: context.DeadlineExceeded, status: http.StatusServiceUnavailable, detail: "The answer took too long.", retryAfter: "5"},
		// The first load takes seconds, and the next try after a failed one not much longer.
		{err: errNoSnapshot, status: http.StatusServiceUnavailable, detail: "The data are still being loaded.", retryAfter: "2"},
		// An operator has to mend it, or another process to finish; everything else is answered meanwhile.
		{err: errStore, status: http.StatusServiceUnavailable, detail: "Histories of more than the data in memory cannot be read at the moment.", retryAfter: "30"},
		{err: data.ErrUnavailable, status: http.StatusServiceUnavailable, detail: "Maps of weeks before those in memory cannot be read at the moment.", retryAfter: "30"},
	} {
		if !errors.Is(err, row.err) {
			continue
		}
		p = &problem{Status: row.status, Detail: row.detail}
		if row.retryAfter != "" {
			p.Header = http.Header{"Retry-After": {row.retryAfter}}
		}
		return p, row.err != errStore && row.err != data.ErrUnavailable
	}
	return &problem{Status: http.StatusInternalServerError}, false
}

// adapt makes an http.Handler of h.
func (s *Server) adapt(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
			w.WriteHeader(statusClientGone) // for the statistics, which would take it for a success
			return
		}
		p, told := problemOf(err)
		if !told {
			s.logger.LogAttrs(r.Context(), slog.LevelError, "request failed",
				slog.String("request_id", requestID(r)), slog.String("path", r.URL.Path), slog.Any("error", err))
		}
		writeProblem(w, r, p)
	})
}

// allow is the value of Allow, everywhere: all operations are reads.
const allow = "GET, HEAD, OPTIONS"

// reads passes GET and HEAD on, answers OPTIONS, and refuses every other method.
func reads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			next.ServeHTTP(w, r)
		case http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		default:
			writeProblem(w, r, &problem{
				Status: http.StatusMethodNotAllowed,
				Detail: "This address is read with GET or HEAD.",
				Header: http.Header{"Allow": {allow}},
			})
		}
	})
}
