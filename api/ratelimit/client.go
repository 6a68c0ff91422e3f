package ratelimit

import (
	"net/http"
	"net/netip"

	"limnomap/api/answer"
	"limnomap/tiles/admission"
)

// A Client says how a limit tells clients apart.
type Client int

const (
	Address Client = iota // by their address
	KeyName               // by the name of their API key
)

// appendID appends the bytes that identify the client that sent r. They are the same on all servers.
func (c Client) appendID(b []byte, r *http.Request) []byte {
	if c == KeyName {
		return append(b, answer.KeyName(r)...)
	}
	return appendAddr(b, answer.ClientAddr(r))
}

// appendAddr appends an IPv4 address, or the network of an IPv6 one. All clients without an address count as one.
func appendAddr(b []byte, a netip.Addr) []byte {
	client := admission.ClientOf(a)
	switch {
	case client.Addr().Is4():
		v4 := client.Addr().As4()
		return append(b, v4[:]...)
	case client.Addr().Is6():
		v6 := client.Addr().As16()
		return append(b, v6[:client.Bits()/8]...)
	}
	return b
}
