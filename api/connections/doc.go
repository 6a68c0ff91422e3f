// Package connections bounds how many connections a server has open: in total, for each address, and for each network.
//
// A [Limiter] decides when a connection is accepted, before TLS, a goroutine or a buffer is spent on it. A connection beyond a
// bound is closed at once. It counts peers: what X-Forwarded-For says is not known yet. So proxies that serve many clients
// belong in [Bounds.Trusted].
//
// A connection that waits for a request, or for the rest of a header, may be closed to make room: one of the address with the most
// connections, and of these the longest waiting among those looked at. An address never loses a connection to an
// address with more connections. A connection on which a request is being answered is closed only if its client
// takes no data of the answer. So clients that hold connections without using them, or do not read, do not shut out others.
//
// What a client sends is read at a bounded speed, so that a few cannot use up the processors with frames or headers.
//
// The hook of net/http for a connection's state runs twice for each request of HTTP/1, so it takes no lock.
package connections
