package answer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
)

// StatusClientGone is logged when the client left before anything was written; nginx made the number customary.
const StatusClientGone = 499

// A Handler answers a request, or returns an error before it has written anything.
type Handler func(w http.ResponseWriter, r *http.Request) error

// An ErrorStatus says how clients see an error.
type ErrorStatus struct {
	Err        error
	Status     int
	Detail     string
	RetryAfter string // seconds; empty for none
	Log        bool   // log the error too: an operator has to act
}

// Errors makes handlers of functions that return an error.
type Errors struct {
	table []ErrorStatus
	log   *slog.Logger
}

// NewErrors returns an Errors with a table of all errors that are not a 500; the first row that matches decides. The errors
// of this package are added.
func NewErrors(table []ErrorStatus, log *slog.Logger) *Errors {
	own := []ErrorStatus{
		{Err: errNotAcceptable, Status: http.StatusNotAcceptable, Detail: "Accept-Encoding allows none of br, zstd, gzip and identity."},
		{Err: errTooManyLists, Status: http.StatusServiceUnavailable, Detail: "The server is already writing as many long lists as it may.", RetryAfter: "10"},
	}
	return &Errors{table: append(table[:len(table):len(table)], own...), log: log}
}

// Handler returns an http.Handler that answers by h, or writes its error as a problem.
func (e *Errors) Handler(h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
			w.WriteHeader(StatusClientGone) // for the metrics, which would count a success
			return
		}
		p, log := e.problem(err)
		if log {
			e.log.LogAttrs(r.Context(), slog.LevelError, "request failed",
				slog.String("request_id", RequestID(r)), slog.String("path", r.URL.Path), slog.Any("error", err))
		}
		WriteProblem(w, r, p)
	})
}

// problem returns how a client sees err, and whether to log it.
func (e *Errors) problem(err error) (p *Problem, log bool) {
	if errors.As(err, &p) {
		return p, false
	}
	for i := range e.table {
		row := &e.table[i]
		if !errors.Is(err, row.Err) {
			continue
		}
		p = &Problem{Status: row.Status, Detail: row.Detail}
		if row.RetryAfter != "" {
			p.Header = http.Header{"Retry-After": {row.RetryAfter}}
		}
		return p, row.Log
	}
	return &Problem{Status: http.StatusInternalServerError}, true
}

// allow is the value of the field Allow of every address.
const allow = "GET, HEAD, OPTIONS"

// ReadOnly passes GET and HEAD on, answers OPTIONS, and refuses every other method.
func ReadOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			next.ServeHTTP(w, r)
		case http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		default:
			WriteProblem(w, r, &Problem{
				Status: http.StatusMethodNotAllowed,
				Detail: "This address is read with GET or HEAD.",
				Header: http.Header{"Allow": {allow}},
			})
		}
	})
}
