package answer

import (
	"context"
	"net/http"
	"net/netip"
	"time"
)

// A RequestInfo is what the middleware learns about one request. The outermost makes it, the inner ones write into it, and
// the access log, which is outside of them, reads it when they are done: a context value that an inner middleware adds
// would be invisible there. It is a context itself, which saves an allocation, and belongs to the goroutine that serves the
// request.
type RequestInfo struct {
	context.Context
	request http.Request // the request with this context; it is here to save an allocation

	Start   time.Time  // when the request was received; zero if nothing measured it
	ID      [1]string  // an array, so that the response header can share it
	Addr    netip.Addr // of the client; invalid until it is known
	KeyName string     // of the API key; empty without one
	TraceID string     // empty if the request is not traced
	Reason  string     // why the answer is a 400, for the log; empty for others
	// PathValues are the values of the variables in the pattern of the route, in their order.
	PathValues [3]string
	// TrueFor is how long the answer will be true: no cache may use it for longer. Zero means that this is not known, or far away.
	TrueFor time.Duration
	// Age is the value of the field Age; empty while the data are confirmed. It is an array as ID.
	Age [1]string
	// RateLimit is room for the items of the field RateLimit: at most two limits apply to a route.
	RateLimit [2]string
	// Writer is that of the access log; it is here to save an allocation.
	Writer Writer

	release func() // called by Release; may be nil
}

// OnRelease adds release to the functions that Release calls.
func (info *RequestInfo) OnRelease(release func()) {
	if before := info.release; before != nil {
		info.release = func() { before(); release() }
		return
	}
	info.release = release
}

// Release calls the functions that OnRelease added. It is called when the answer has been sent.
func (info *RequestInfo) Release() {
	if info.release != nil {
		info.release()
		info.release = nil
	}
}

// infoKey is the context key of a *RequestInfo.
type infoKey struct{}

// Value returns the RequestInfo itself for its own key, and asks the parent context for others.
func (info *RequestInfo) Value(key any) any {
	if key == (infoKey{}) {
		return info
	}
	return info.Context.Value(key)
}

// InfoOf returns the RequestInfo of r, or an empty one that no one else sees.
func InfoOf(r *http.Request) *RequestInfo {
	_, info := WithInfo(r)
	return info
}

// WithInfo returns r with its RequestInfo, or with a new one.
func WithInfo(r *http.Request) (*http.Request, *RequestInfo) {
	if info, ok := r.Context().Value(infoKey{}).(*RequestInfo); ok {
		return r, info
	}
	info := &RequestInfo{Context: r.Context()}
	info.request = *r.WithContext(info)
	return &info.request, info
}

// RequestID returns the id of r, or nothing.
func RequestID(r *http.Request) string { return InfoOf(r).ID[0] }
