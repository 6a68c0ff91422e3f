// Package connections bounds how many connections a server has open: for each address, for each IPv6 site, and in total.
//
// A [Limiter] decides when a connection is accepted, before TLS, a goroutine or a buffer is spent on it. If a bound is met, it closes a
// connection that waits for a request, or for the rest of a header, of the address with the most connections; or one whose client takes no
// data of its answer. If there is none, it closes the new one. A crowded server closes connections before a bound is met. An address never
// loses a waiting connection to an address with more connections. So clients that hold connections without using them, or do not read, do
// not shut out others.
//
// It counts peers: what X-Forwarded-For says is not known yet. So proxies that serve many clients belong in [Bounds.Trusted].
//
// What a client sends is read at a bounded speed, so that a few cannot use up the processors with frames or headers.
//
// The hook of net/http for a connection's state runs twice for each request of HTTP/1, so it takes no lock.
package connections
