package answer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"limnomap/tiles/admission"
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
	// Log logs the error too: an operator has to act. It is logged once a minute, since each request may meet it.
	Log bool
}

// Errors makes handlers of functions that return an error.
type Errors struct {
	table []ErrorStatus
	log   *slog.Logger

	mu     sync.Mutex
	logged map[*ErrorStatus]*loggedError // by the row of table; guarded by mu
}

// logEvery is how often an error of the table is logged.
const logEvery = time.Minute

// A loggedError says when an error was logged last, and how many were not since.
type loggedError struct {
	at      time.Time
	omitted int
}

// NewErrors returns an Errors with a table of all errors that are not a 500; the first row that matches decides. The errors
// of this package are added.
func NewErrors(table []ErrorStatus, log *slog.Logger) *Errors {
	own := []ErrorStatus{
		{Err: errNotAcceptable, Status: http.StatusNotAcceptable, Detail: "Accept-Encoding allows none of the codings of this answer."},
		{Err: admission.ErrBusy, Status: http.StatusServiceUnavailable, Detail: "The server is making and sending as many answers as it may.", RetryAfter: "5"},
	}
	return &Errors{table: append(table[:len(table):len(table)], own...), log: log, logged: make(map[*ErrorStatus]*loggedError)}
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
		WriteProblem(w, r, e.Log(r, err))
	})
}

// Log logs an error of r that an operator has to know of, and returns how clients see it.
func (e *Errors) Log(r *http.Request, err error) *Problem {
	p, row := e.problem(err)
	if log, omitted := e.logs(p, row); log {
		attrs := []slog.Attr{slog.String("request_id", RequestID(r)), slog.String("path", LoggedPath(r)), slog.Any("error", err)}
		if omitted > 0 {
			attrs = append(attrs, slog.Int("not_logged_since", omitted))
		}
		e.log.LogAttrs(r.Context(), slog.LevelError, "request failed", attrs...)
	}
	return p
}

// logs reports whether an error that a client sees as p is logged, and how many errors of its row were left out since the last line.
func (e *Errors) logs(p *Problem, row *ErrorStatus) (log bool, omitted int) {
	if row == nil {
		return p.Status == http.StatusInternalServerError, 0
	}
	if !row.Log {
		return false, 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now, last := time.Now(), e.logged[row]
	if last != nil && now.Sub(last.at) < logEvery {
		last.omitted++
		return false, 0
	}
	if last != nil {
		omitted = last.omitted
	}
	e.logged[row] = &loggedError{at: now}
	return true, omitted
}

// problem returns how a client sees err, and its row of the table, if it has one.
func (e *Errors) problem(err error) (p *Problem, row *ErrorStatus) {
	if errors.As(err, &p) {
		return p, nil
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
		return p, row
	}
	return &Problem{Status: http.StatusInternalServerError}, nil
}

// allowRead is the value of the field Allow of an address that is read.
const allowRead = "GET, HEAD, OPTIONS"

// ReadOnly passes GET and HEAD on, answers OPTIONS, and refuses every other method.
func ReadOnly(next http.Handler) http.Handler {
	return withMethods(next, allowRead, "This address is read with GET or HEAD.", http.MethodGet, http.MethodHead)
}

// Only passes requests with that method on, answers OPTIONS, and refuses every other method.
func Only(method string, next http.Handler) http.Handler {
	return withMethods(next, method+", OPTIONS", "This address is for "+method+".", method)
}

func withMethods(next http.Handler, allow, detail string, methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case slices.Contains(methods, r.Method):
			next.ServeHTTP(w, r)
		case r.Method == http.MethodOptions:
			w.Header().Set("Allow", allow)
			w.WriteHeader(http.StatusNoContent)
		default:
			WriteProblem(w, r, &Problem{Status: http.StatusMethodNotAllowed, Detail: detail, Header: http.Header{"Allow": {allow}}})
		}
	})
}
