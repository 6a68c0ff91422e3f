// Package fetchguard keeps outgoing HTTP requests away from addresses where a machine gives its credentials to any process on
// it: the metadata services of clouds. Code that fetches from an address, or posts to one, that others can choose or redirect
// should use its [Transport].
//
// It promises:
//
//   - No connection is made to an address that [Check] refuses, however it is written: as a name, as a number, or as an IPv4 address in
//     an IPv6 form. The resolved address is checked when the connection is made, so a name that is resolved again cannot change it.
//   - After a redirect no connection is made to a loopback address, unless all earlier requests of the chain went to one. The first
//     request may go to a loopback address: the operator has chosen it.
//   - The same holds for a request that [Elsewhere] marks: its address is from another machine's file, not from the operator.
//   - If a proxy is used, the target is resolved here too, and all its addresses are checked in the same way. The proxy itself may
//     have a loopback address.
//
// It does not promise anything about private networks, which are allowed, about other addresses of this machine, about prefixes for
// NAT64 that an operator has chosen, and about what a proxy does: it resolves names itself, perhaps to other addresses, and a name
// that cannot be resolved here is left to it, unless it is the known name of a metadata service.
package fetchguard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// A Transport sends requests to allowed addresses only. It is safe for concurrent use.
type Transport struct {
	base   *http.Transport
	check  func(netip.Addr) error // of each address, after Check
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// New returns a Transport that uses base, which it changes: base must not be used otherwise. Connections are not used again, since
// one to a loopback address must not serve a redirect from elsewhere.
func New(base *http.Transport) *Transport { return newTransport(base, net.DefaultResolver) }

// NewPublic is like [New] for requests whose address anyone can choose, not only the operator: they reach public addresses only, and those in
// allow. Addresses that [Check] refuses are never allowed. No proxy is used, since it would resolve names itself.
func NewPublic(base *http.Transport, allow []netip.Prefix) *Transport {
	base.Proxy = nil
	t := New(base)
	t.check = func(addr netip.Addr) error { return checkPublic(addr, allow) }
	return t
}

func newTransport(base *http.Transport, resolver *net.Resolver) *Transport {
	// The times of http.DefaultTransport.
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Resolver: resolver, ControlContext: control}
	base.DialContext = dialer.DialContext
	base.DialTLSContext = nil
	base.DisableKeepAlives = true
	return &Transport{base: base, lookup: resolver.LookupNetIP}
}

// A hop is one request of a chain of redirects.
type hop struct {
	redirected bool // from a host that is not a loopback address
	proxied    bool
	loopback   bool // it went to a loopback address
	check      func(netip.Addr) error
}

type hopKey struct{}

type elsewhereKey struct{}

// Elsewhere returns a context for requests whose address is from another machine's answer. They are refused where redirects are.
func Elsewhere(ctx context.Context) context.Context {
	return context.WithValue(ctx, elsewhereKey{}, true)
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	h := &hop{check: t.check, redirected: !fromLoopback(req) || req.Context().Value(elsewhereKey{}) != nil}
	ctx := context.WithValue(req.Context(), hopKey{}, h)
	if err := checkName(req.URL.Hostname()); err != nil {
		return nil, refuse(req, err)
	}
	proxy, err := t.proxy(req)
	if err != nil {
		return nil, refuse(req, err)
	}
	if h.proxied = proxy != nil; h.proxied {
		if h.loopback, err = t.checkTarget(ctx, req.URL.Hostname(), h.redirected); err != nil {
			return nil, refuse(req, err)
		}
	} else {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if addr, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil {
				h.loopback = addr.Addr().Unmap().IsLoopback()
			}
		}})
	}
	return t.base.RoundTrip(req.WithContext(ctx)) // its answer's Request has h
}

// CloseIdleConnections closes the connections that are kept for later requests.
func (t *Transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

func (t *Transport) proxy(req *http.Request) (*url.URL, error) {
	if t.base.Proxy == nil {
		return nil, nil
	}
	return t.base.Proxy(req)
}

// refuse closes the body of a request that is not sent, as a RoundTripper must.
func refuse(req *http.Request, err error) error {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return err
}

// fromLoopback reports whether all earlier requests of the chain went to loopback addresses, or there is none.
func fromLoopback(req *http.Request) bool {
	for req.Response != nil { // a redirect
		earlier := req.Response.Request
		if earlier == nil {
			return false
		}
		if h, ok := earlier.Context().Value(hopKey{}).(*hop); !ok || !h.loopback || h.redirected {
			return false
		}
		req = earlier
	}
	return true
}

// control checks the address of each connection before it is made.
func control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: not an IP address", ErrRefused)
	}
	if err := Check(to.Addr()); err != nil {
		return err
	}
	h, ok := ctx.Value(hopKey{}).(*hop)
	if ok && h.check != nil {
		if err := h.check(to.Addr()); err != nil {
			return err
		}
	}
	if ok && h.redirected && !h.proxied && to.Addr().Unmap().IsLoopback() {
		return fmt.Errorf("%s: %w", to.Addr(), ErrLoopback)
	}
	return nil
}

// checkTarget checks all addresses of the target of a proxy. It reports whether all of them are loopback addresses.
func (t *Transport) checkTarget(ctx context.Context, host string, redirected bool) (loopback bool, err error) {
	addrs, err := t.lookup(ctx, "ip", host)
	if err != nil {
		return false, ctx.Err() // the proxy may know the name
	}
	loopback = len(addrs) > 0
	for _, addr := range addrs {
		if err := Check(addr); err != nil {
			return false, fmt.Errorf("by a proxy: %w", err)
		}
		if !addr.Unmap().IsLoopback() {
			loopback = false
		} else if redirected {
			return false, fmt.Errorf("by a proxy: %s: %w", addr, ErrLoopback)
		}
	}
	return loopback, nil
}
