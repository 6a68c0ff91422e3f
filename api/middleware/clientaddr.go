package middleware

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"limnomap/api/answer"
)

// maxForwardedHops bounds how many addresses of X-Forwarded-For are read. Chains of trusted proxies are short; the rest of
// a longer list can only be made up by the client.
const maxForwardedHops = 32

// ClientAddr finds the address of the client once, for the limits and the log. The result of trusted may change while requests
// are served.
func ClientAddr(trusted func() []netip.Prefix) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, info := answer.WithInfo(r)
			info.Addr = clientAddr(r, trusted())
			next.ServeHTTP(w, r)
		})
	}
}

// clientAddr returns the address of the client that sent r: the peer's, unless the peer is a trusted proxy. Then it is the
// last address in X-Forwarded-For that is not a trusted proxy: each proxy appends the address that it saw, and only what a
// trusted proxy appended is reliable. An element that is not an address ends the search: nothing to its left is reliable, and
// the proxy to its right counts as the client.
//
// The result is invalid only if the peer has no IP address, as on a Unix socket.
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	addr := answer.PeerAddr(r)
	if !trustedPeer(r, addr, trusted) {
		return addr
	}
	lines := r.Header["X-Forwarded-For"]
	hops := 0
	// Several lines of one header are one list, in order (RFC 9110, section 5.3).
	for i := len(lines) - 1; i >= 0; i-- {
		rest := lines[i]
		for more := true; more; hops++ {
			if hops == maxForwardedHops {
				return addr
			}
			var hop string
			rest, hop, more = cutLast(rest)
			next, ok := parseHop(hop)
			if !ok {
				return addr
			}
			addr = next
			if !contains(trusted, addr) {
				return addr
			}
		}
	}
	return addr
}

// cutLast splits a comma-separated list before its last element, and reports whether it has more elements.
func cutLast(list string) (rest, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", strings.TrimSpace(list), false
	}
	return list[:i], strings.TrimSpace(list[i+1:]), true
}

// parseHop reads one element of X-Forwarded-For. There is no standard for it; some proxies add the port, and then put an
// IPv6 address in brackets.
func parseHop(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return answer.PlainAddr(a), true
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return answer.PlainAddr(ap.Addr()), true
	}
	if len(s) > 2 && s[0] == '[' && s[len(s)-1] == ']' {
		if a, err := netip.ParseAddr(s[1 : len(s)-1]); err == nil && a.Is6() {
			return answer.PlainAddr(a), true
		}
	}
	return netip.Addr{}, false
}

// trustedPeer reports whether the peer is a trusted proxy. A peer on a Unix socket has no address that a prefix could match,
// and the permissions of the file system let it in: it is trusted as soon as any proxy is.
func trustedPeer(r *http.Request, peer netip.Addr, trusted []netip.Prefix) bool {
	if len(trusted) == 0 {
		return false
	}
	if !peer.IsValid() {
		return r.RemoteAddr == "" || r.RemoteAddr == "@" || strings.HasPrefix(r.RemoteAddr, "/")
	}
	return contains(trusted, peer)
}

func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
		// A prefix of mapped addresses, such as ::ffff:10.0.0.0/104, never contains a plain address.
		if a.Is4() && p.Addr().Is4In6() && p.Bits() >= 96 && p.Contains(netip.AddrFrom16(a.As16())) {
			return true
		}
	}
	return false
}

// ForwardedOrigin returns the scheme and host that the client used, from X-Forwarded-Proto and X-Forwarded-Host of a trusted
// proxy. It is not ok if the peer is not trusted, or if either field is missing, repeated, or not exactly http or https and a
// host with an optional port: the result becomes part of addresses that other clients may get from a cache.
func ForwardedOrigin(r *http.Request, trusted []netip.Prefix) (scheme, host string, ok bool) {
	if !trustedPeer(r, answer.PeerAddr(r), trusted) {
		return "", "", false
	}
	schemes, hosts := r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-Host"]
	if len(schemes) != 1 || len(hosts) != 1 {
		return "", "", false
	}
	scheme, host = strings.ToLower(schemes[0]), strings.ToLower(hosts[0])
	if scheme != "http" && scheme != "https" || !validHost(host) {
		return "", "", false
	}
	return scheme, host, true
}

// validHost reports whether s is host[:port] in lower case: a DNS name, an IPv4 address or a bracketed IPv6 one.
func validHost(s string) bool {
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return false
		}
		a, err := netip.ParseAddr(s[1:end])
		if err != nil || !a.Is6() || a.Zone() != "" {
			return false
		}
		return s[end+1:] == "" || validPort(s[end+1:])
	}
	name := s
	if i := strings.IndexByte(s, ':'); i >= 0 {
		if !validPort(s[i:]) {
			return false
		}
		name = s[:i]
	}
	if len(name) == 0 || len(name) > 253 { // RFC 1035, section 2.3.4, less the length octets
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if !validLabel(label) {
			return false
		}
	}
	return true
}

// CanonicalHost returns the host and port of an http or https address as clients send them in Origin and Host: in lower case, and without the port that
// the scheme means. The error says what a host may be; a name with other letters than those of ASCII has to be given as clients send it, too.
func CanonicalHost(scheme, host string) (string, error) {
	host = strings.ToLower(host)
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	if port == "" || !validHost(host) {
		return "", fmt.Errorf("host %.64q: want a name, an IPv4 or a bracketed IPv6 address, with an optional port; names with letters beyond ASCII begin with xn--, as clients send them", host)
	}
	return strings.TrimSuffix(host, port), nil
}

// validLabel reports whether s is one label of a host name (RFC 1123, section 2.1), or one with underscores, which container
// networks use.
func validLabel(s string) bool {
	if len(s) == 0 || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// validPort reports whether s is a colon and a port from 1 to 65535, without leading zeros.
func validPort(s string) bool {
	n, err := strconv.ParseUint(s[1:], 10, 16)
	return s[0] == ':' && err == nil && n > 0 && s[1] != '0'
}
