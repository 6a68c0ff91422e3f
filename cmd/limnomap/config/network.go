package config

import (
	"fmt"
	"net/netip"
)

// A Network is a range of addresses, written as 10.0.0.0/8.
type Network struct{ netip.Prefix }

func (n *Network) UnmarshalText(text []byte) error {
	p, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf("network %q is not an address with a prefix length, such as 10.0.0.0/8, fd00::/8, or 192.0.2.7/32 for one address", text)
	}
	if mapped := p.Bits() - 96; p.Addr().Is4In6() && mapped >= 0 { // addresses of clients are compared in their IPv4 form
		p = netip.PrefixFrom(p.Addr().Unmap(), mapped)
	}
	n.Prefix = p
	return nil
}
