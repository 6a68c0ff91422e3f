package connections

import (
	"container/list"
	"net"
	"net/netip"
	"sync/atomic"

	"limnomap/api/answer"
	"limnomap/data/admission"
)

// A kind is a kind of peers.
type kind int

const (
	ordinary kind = iota
	// local is a program on this machine, such as the health check of a container: both ends have the same address.
	local
	trusted // a proxy of Bounds.Trusted
)

// An address has the connections of an IPv4 address, of the /64 of an IPv6 address or, without a key, of all trusted proxies.
type address struct {
	key     netip.Addr   // the first address of the /64
	conns   list.List    // of *conn, those looked at least recently first; guarded by Limiter.mu
	waiting atomic.Int32 // how many of conns wait for a request; may lag behind for a moment

	rank    *rank         // nil for the trusted proxies; guarded by Limiter.mu
	ranked  *list.Element // in rank.addresses; guarded by Limiter.mu
	network *network      // nil for IPv4; guarded by Limiter.mu
	member  *list.Element // in network.addresses; guarded by Limiter.mu
}

// A network has the addresses of a /48 of IPv6: what a site gets (RFC 6177). Limiter.mu guards all fields.
type network struct {
	key       netip.Addr // the first address
	conns     int
	addresses list.List // of *address, those looked at least recently first
}

// peerOf returns the address and the kind of the peer of c. All peers without an IP address count as one.
func peerOf(c net.Conn, proxies []netip.Prefix) (netip.Addr, kind) {
	remote, here := plainAddr(c.RemoteAddr()), plainAddr(c.LocalAddr())
	for _, p := range proxies {
		if p.Contains(remote) {
			return remote, trusted
		}
	}
	client := admission.ClientOf(remote).Addr()
	if remote.IsValid() && remote == here {
		return client, local
	}
	return client, ordinary
}

func plainAddr(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp != nil {
		return answer.PlainAddr(tcp.AddrPort().Addr())
	}
	return netip.Addr{}
}

// siteBits is the length of the IPv6 prefix that a site gets (RFC 6177).
const siteBits = 48

// siteOf returns the first address of the /48 that has the IPv6 address a. IPv4 addresses are unchanged.
func siteOf(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	prefix, _ := a.Prefix(siteBits) // fails only for more bits than the address has
	return prefix.Addr()
}
