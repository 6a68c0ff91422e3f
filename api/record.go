package api

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"go.opentelemetry.io/otel/trace"

	"limnomap/data/apikey"
)

// A record is what the middleware learn of one request, for each other: the outermost makes it, the inner ones write
// into it, and the access log, outside of them, reads it when they are done. A value in a context made by an inner
// middleware would be invisible out there. It is a context itself, which saves an allocation, and belongs to the one
// goroutine that serves the request.
type record struct {
	context.Context
	request http.Request  // the request with this context, which lies here to save an allocation
	start   time.Time     // when logRequests saw it
	id      [1]string     // an array, so that the response header can share it instead of allocating a slice
	key     string        // name of the API key; empty without one
	scopes  apikey.Scopes // what that key opens
	addr    netip.Addr    // of the client; invalid until withClientAddr has run
	// limits backs the RateLimit field, so that the header needs no slice of its own. Two limits stand around a
	// route at most; more would only cost an allocation.
	limits [2]string
	trace  trace.TraceID // of the span around the request; zero if it is not traced
	age    [1]string     // what an answer that tells of the data has to say; empty while these are confirmed
	writer trackedWriter // of logRequests; it lives here because it lives as long
}

// recordKey is the context key of a *record.
type recordKey struct{}

// Value returns the record itself for its own key, and asks the context around it for the others.
func (rec *record) Value(key any) any {
	if key == (recordKey{}) {
		return rec
	}
	return rec.Context.Value(key)
}

// recordOf returns the record of r, nil when withRequestID is not among the middleware around.
func recordOf(r *http.Request) *record {
	rec, _ := r.Context().Value(recordKey{}).(*record)
	return rec
}

// withRecord returns r with a record, and the record: the one it has, or a new one.
func withRecord(r *http.Request) (*http.Request, *record) {
	if rec := recordOf(r); rec != nil {
		return r, rec
	}
	rec := &record{Context: r.Context()}
	rec.request = *r.WithContext(rec)
	return &rec.request, rec
}
