package middleware

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"limnomap/api/answer"
)

// LocalOrigin returns the scheme and host of the address to which the client of r connected. It is ok only if Host is exactly
// that address: the IP address and port of this end of the connection, or localhost and the port if that end is loopback. The
// port may be left out if it is the default of the scheme. The result is written from the address of the connection and never
// copied from the request.
//
// It is not ok if r came through a proxy, as far as that can be seen. Many proxies put the address of this server in Host, where
// their clients cannot connect.
func LocalOrigin(r *http.Request, trusted []netip.Prefix) (scheme, host string, ok bool) {
	local, isTCP := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !isTCP {
		return "", "", false
	}
	addr := local.AddrPort().Addr().Unmap()
	if !addr.IsValid() || addr.Zone() != "" { // the zone is a name on this machine, and browsers do not support it
		return "", "", false
	}
	scheme, defaultPort := "http", 80
	if r.TLS != nil {
		scheme, defaultPort = "https", 443
	}
	port := ":" + strconv.Itoa(local.Port)
	name, hasPort := strings.CutSuffix(r.Host, port)
	if !hasPort && local.Port != defaultPort {
		return "", "", false
	}
	switch {
	case addr.IsLoopback() && strings.EqualFold(name, "localhost"):
		host = "localhost"
	case !isLiteral(name, addr):
		return "", "", false
	case addr.Is6():
		host = "[" + addr.String() + "]"
	default:
		host = addr.String()
	}
	if proxied(r, trusted) {
		return "", "", false
	}
	if local.Port != defaultPort {
		host += port
	}
	return scheme, host, true
}

// isLiteral reports whether name is addr as in a URL, an IPv6 address in brackets.
func isLiteral(name string, addr netip.Addr) bool {
	inner, bracketed := strings.CutPrefix(name, "[")
	if bracketed {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, "]"); !closed {
			return false
		}
	}
	a, err := netip.ParseAddr(inner)
	return err == nil && a.Is6() == bracketed && a.Unmap() == addr
}

// proxied reports whether r shows that a proxy sent it. The fields count from any peer: a client that adds one only gets the answer
// for clients of a proxy. HTTP/1.0 counts too: no browser sends it, and it was nginx's default until 1.29.7, with a Host that is
// the address of the server, and none of the fields.
func proxied(r *http.Request, trusted []netip.Prefix) bool {
	if !r.ProtoAtLeast(1, 1) || trustedPeer(r, answer.PeerAddr(r), trusted) {
		return true
	}
	for name := range r.Header {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded") {
			return true
		}
	}
	return false
}
