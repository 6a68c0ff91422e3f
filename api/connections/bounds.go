package connections

import (
	"math"
	"net/netip"
)

// Bounds say how many connections may be open at the same time. The zero value allows none.
type Bounds struct {
	Total      int // of all peers; a part of it is reserved, see Reserved
	PerAddress int // of an IPv4 address or of the /64 of an IPv6 address
	PerNetwork int // of the /48 of an IPv6 address
	// Trusted are the networks of proxies. Their connections count only in Total.
	Trusted []netip.Prefix
}

// ConnectionBytes is the memory that a connection takes while it waits, in the most expensive case: HTTP/2 over TLS. docs/limits.md
// has the figures.
const ConnectionBytes = 64 << 10

const (
	memoryShare = 8   // the part of the memory for connections that wait is 1/memoryShare
	spareFiles  = 256 // open files for the database, tiles, logs and the admin listener
	// maxTotal bounds the default on machines with much memory. The kernel needs memory for each connection, too.
	maxTotal = 1 << 16
	// minTotal is the least default: pages of some visitors, however small the machine.
	minTotal = 64
	// minReserved is the least number of reserved connections, unless that is more than half of all: some health checks at the same
	// time, of which the ones before may still be closing.
	minReserved = 8
)

// DefaultTotal returns how many connections a process may have that is allowed to use so much memory and to open so many files.
// Zero means unknown.
func DefaultTotal(memory, files uint64) int {
	total := uint64(maxTotal)
	if memory > 0 {
		total = min(total, memory/memoryShare/ConnectionBytes)
	}
	total = max(total, minTotal)
	if files > 0 {
		total = min(total, files-min(spareFiles, files/2))
	}
	return int(total)
}

// NewBounds returns bounds for that total. An address may have perAddress connections or, if that is zero, a quarter of the
// total; a network eight times as many, but at most half of the total unless an address may have more.
func NewBounds(total, perAddress int, trusted []netip.Prefix) Bounds {
	if perAddress == 0 {
		perAddress = max(total/4, 1)
	}
	perAddress = min(perAddress, total)
	perNetwork := total / 2
	if perAddress < math.MaxInt/8 {
		perNetwork = min(perNetwork, 8*perAddress)
	}
	return Bounds{Total: total, PerAddress: perAddress, PerNetwork: max(perAddress, perNetwork), Trusted: trusted}
}

// Reserved returns how many connections of the total only trusted proxies and this machine itself may use.
func (b *Bounds) Reserved() int { return min(max(b.Total/16, minReserved), b.Total/2) }

// crowded returns the number of connections beyond which each new one closes one of those waiting for some time.
func (b *Bounds) crowded() int {
	ordinary := b.of(ordinary)
	return ordinary - ordinary/4
}

// of returns the total up to which connections of that kind are accepted.
func (b *Bounds) of(k kind) int {
	switch k {
	case trusted:
		return b.Total
	case local:
		return b.Total - b.Reserved()/2
	default:
		return b.Total - b.Reserved()
	}
}
