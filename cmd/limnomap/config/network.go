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
	n.Prefix = p
	return nil
}
