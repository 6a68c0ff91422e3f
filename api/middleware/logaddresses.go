package middleware

import "net/netip"

// LogAddresses says how much of the address of a client is logged: "full", "short" or "none". The zero value is "short".
type LogAddresses string

// What is left of an address in a short one: the network, which many clients share.
const (
	shortBits4 = 24
	shortBits6 = 48
)

// Text returns what is logged of an address; empty for nothing.
func (a LogAddresses) Text(addr netip.Addr) string {
	switch {
	case a == "none":
		return ""
	case a == "full" || !addr.IsValid():
		return addr.String()
	}
	bits := shortBits4
	if addr.Is6() {
		bits = shortBits6
	}
	network, _ := addr.Prefix(bits) // cannot fail: an address has no zone here, and more bits
	return network.String()
}
