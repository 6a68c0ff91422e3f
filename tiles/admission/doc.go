// Package admission bounds what all clients of a server together may make it hold and do, and shares it fairly among them.
//
// A [Budget] bounds bytes: the memory of answers from when they are made until their clients have read them. [Turns] bound
// work: how many tiles, lists and weeks are made at once. Both tell clients apart by a [Client]; neither knows what a
// client asks for. Both are safe for concurrent use.
package admission

import (
	"errors"
	"net/netip"
)

// ErrBusy is returned when too much is held or waits already: try again soon.
var ErrBusy = errors.New("the server is busy")

// A Client is who shares the bounds with the others: an IPv4 address, or an IPv6 network. The zero Client is the server itself, and
// all clients without an address.
type Client = netip.Prefix

// homeBits is the length of the IPv6 prefix that counts as one client: a household gets a whole /64 (RFC 6177), and could
// change its address with each request.
const homeBits = 64

// ClientOf returns the client with that address.
func ClientOf(a netip.Addr) Client {
	bits := homeBits
	if a = a.Unmap(); a.Is4() {
		bits = a.BitLen()
	}
	p, err := a.WithZone("").Prefix(bits)
	if err != nil {
		return Client{} // no address
	}
	return p
}
