package ratelimit

import (
	"hash/maphash"
	"net/http"
	"net/netip"

	"limnomap/api/answer"
	"limnomap/tiles/admission"
)

// A Client says how a limit tells clients apart: in its own buckets by a hash with the limit's seed, in shared buckets by a
// name that is the same on all servers.
type Client struct {
	hash func(seed maphash.Seed, r *http.Request) uint64
	name func(r *http.Request) string
}

var (
	// Address tells clients apart by their address.
	Address = Client{
		hash: func(seed maphash.Seed, r *http.Request) uint64 { return hashAddr(seed, answer.ClientAddr(r)) },
		name: func(r *http.Request) string {
			var b [16]byte
			return string(addrBytes(&b, answer.ClientAddr(r)))
		},
	}
	// KeyName tells clients apart by the name of their API key.
	KeyName = Client{
		hash: func(seed maphash.Seed, r *http.Request) uint64 { return maphash.String(seed, answer.KeyName(r)) },
		name: answer.KeyName,
	}
)

// hashAddr returns the hash of the client with that address.
func hashAddr(seed maphash.Seed, a netip.Addr) uint64 {
	var b [16]byte
	return maphash.Bytes(seed, addrBytes(&b, a))
}

// addrBytes returns, stored in b, the bytes that identify a client: an IPv4 address, or the network of an IPv6 one. All clients
// without an address count as one.
func addrBytes(b *[16]byte, a netip.Addr) []byte {
	client := admission.ClientOf(a)
	switch {
	case client.Addr().Is4():
		v4 := client.Addr().As4()
		return b[:copy(b[:], v4[:])]
	case client.Addr().Is6():
		*b = client.Addr().As16()
		return b[:client.Bits()/8]
	}
	return nil
}
