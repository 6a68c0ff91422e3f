package fetchguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// ErrRefused is in the error of each request that the guard refuses.
var ErrRefused = errors.New("address is not allowed")

// ErrLoopback is in the error of a redirect to this machine. It is an ErrRefused.
var ErrLoopback = fmt.Errorf("%w after a redirect from another machine: loopback", ErrRefused)

// refused are the prefixes that no request may reach, with their purpose. Private networks are not among them: many sources are there.
var refused = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network (RFC 791); systems connect to themselves"},
	{netip.MustParsePrefix("::/128"), "the unspecified address (RFC 4291)"},
	// Link-local: the metadata of AWS, GCP, Azure, OCI, OpenStack, DigitalOcean and Hetzner at 169.254.169.254, of ECS tasks at
	// 169.254.170.2, of EKS pods at 169.254.170.23, and of Scaleway at 169.254.42.42.
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local (RFC 3927), as cloud metadata"},
	{netip.MustParsePrefix("fe80::/10"), "link-local (RFC 4291)"},
	// https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
	{netip.MustParsePrefix("100.100.100.200/32"), "the metadata of Alibaba Cloud"},
	// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	{netip.MustParsePrefix("168.63.129.16/32"), "the host of Azure"},
	// 192.0.0.192 is the metadata of Oracle Cloud Infrastructure Classic. No public server has an address of this network.
	{netip.MustParsePrefix("192.0.0.0/24"), "IETF protocol assignments (RFC 6890), as cloud metadata"},
	// ::254 is the metadata, https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html; ::23 gives EKS pods
	// their credentials, https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html; ::253 and ::123 are DNS and time.
	{netip.MustParsePrefix("fd00:ec2::/32"), "services of AWS, as its metadata"},
	// https://cloud.google.com/compute/docs/metadata/querying-metadata
	{netip.MustParsePrefix("fd20:ce::254/128"), "the metadata of Google Cloud"},
	// https://docs.oracle.com/iaas/Content/Compute/Tasks/gettingmetadata.htm; cloud-init's DataSourceOracle has the address.
	{netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), "the metadata of Oracle Cloud"},
	// https://cloudinit.readthedocs.io/en/latest/reference/datasources/scaleway.html
	{netip.MustParsePrefix("fd00:42::42/128"), "the metadata of Scaleway"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast (RFC 5771)"},
	{netip.MustParsePrefix("ff00::/8"), "multicast (RFC 4291)"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved or broadcast (RFC 1112)"},
}

// refusedNames are names of metadata services, which a proxy may resolve although this machine cannot.
var refusedNames = []string{"metadata.google.internal", "metadata.goog", "metadata.azure.internal", "instance-data", "instance-data.ec2.internal", "metadata"}

// Check returns an error if no request may reach addr, in whatever form: an IPv4 address may be embedded in an IPv6 address. Loopback
// addresses pass, except embedded ones.
func Check(addr netip.Addr) error {
	plain := addr.Unmap().WithZone("")
	if !plain.IsValid() {
		return fmt.Errorf("%w: not an IP address", ErrRefused)
	}
	if what := refusedAs(plain); what != "" {
		return fmt.Errorf("%s: %w: %s", addr, ErrRefused, what)
	}
	for _, inner := range embedded(plain) {
		what := refusedAs(inner)
		if inner.IsLoopback() {
			what = "loopback"
		}
		if what != "" {
			return fmt.Errorf("%s: %w: an IPv6 form of %s, %s", addr, ErrRefused, inner, what)
		}
	}
	return nil
}

func refusedAs(addr netip.Addr) string {
	for _, r := range refused {
		if r.prefix.Contains(addr) {
			return r.what
		}
	}
	return ""
}

// checkName returns an error for the name of a metadata service, and for a number that is not an IP address to Go, but may be one to a
// proxy, such as 2852039166, 0xa9fea9fe or 169.16689662.
func checkName(host string) error {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	digits, hexadecimal := strings.CutPrefix(last, "0x")
	if last != "" && (strings.Trim(last, "0123456789") == "" || hexadecimal && strings.Trim(digits, "0123456789abcdef") == "") {
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Errorf("%.80q: %w: want an IP address as four numbers from 0 to 255", host, ErrRefused)
		}
	}
	for _, name := range refusedNames {
		if host == name {
			return fmt.Errorf("%s: %w: cloud metadata", host, ErrRefused)
		}
	}
	return nil
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")    // RFC 6052, section 2.1
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")  // RFC 8215
	sixToFour  = netip.MustParsePrefix("2002::/16")       // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32")       // RFC 4380
	compatible = netip.MustParsePrefix("::/96")           // RFC 4291, section 2.5.5.1
	translated = netip.MustParsePrefix("::ffff:0:0:0/96") // RFC 2765, section 2.1
)

// embedded returns the IPv4 addresses that a gateway may read in an IPv6 address. Prefixes that an operator has chosen for NAT64
// (RFC 6052, section 2.2) cannot be known.
func embedded(addr netip.Addr) (inner []netip.Addr) {
	if !addr.Is6() || addr.IsLoopback() {
		return nil
	}
	b := addr.As16()
	at := func(i, j, k, l int) { inner = append(inner, netip.AddrFrom4([4]byte{b[i], b[j], b[k], b[l]})) }
	switch {
	case nat64.Contains(addr), compatible.Contains(addr), translated.Contains(addr):
		at(12, 13, 14, 15)
	case localNAT64.Contains(addr): // byte 8 is not part of an address; the operator chooses one of these lengths of the prefix
		at(6, 7, 9, 10)
		at(7, 9, 10, 11)
		at(9, 10, 11, 12)
		at(12, 13, 14, 15)
	case sixToFour.Contains(addr):
		at(2, 3, 4, 5)
	case teredo.Contains(addr):
		at(4, 5, 6, 7)                                                                  // the server
		inner = append(inner, netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})) // the client
	}
	if (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe { // ISATAP: RFC 5214, section 6.1
		at(12, 13, 14, 15)
	}
	return inner
}

// notPublic are the prefixes of addresses that no server on the internet has, with their purpose: those of the registries of special-purpose
// addresses (https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry) that [Check] allows.
var notPublic = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback (RFC 1122)"},
	{netip.MustParsePrefix("::1/128"), "loopback (RFC 4291)"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private (RFC 1918)"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private (RFC 1918)"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private (RFC 1918)"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a provider (RFC 6598)"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks (RFC 2544)"},
	{netip.MustParsePrefix("192.0.2.0/24"), "documentation (RFC 5737)"},
	{netip.MustParsePrefix("198.51.100.0/24"), "documentation (RFC 5737)"},
	{netip.MustParsePrefix("203.0.113.0/24"), "documentation (RFC 5737)"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relays (RFC 7526)"},
	{netip.MustParsePrefix("2001:db8::/32"), "documentation (RFC 3849)"},
	{netip.MustParsePrefix("3fff::/20"), "documentation (RFC 9637)"},
	{netip.MustParsePrefix("2001:2::/48"), "for benchmarks (RFC 5180)"},
}

// globalUnicast has all IPv6 addresses that are assigned to servers on the internet (RFC 4291, section 2.4; RFC 3587).
var globalUnicast = netip.MustParsePrefix("2000::/3")

// CheckPublicHost returns an error for the host of an address that a Transport of [NewPublic] would refuse whatever a name server says: an IP address that is
// neither public nor in allow, a number, localhost, or the name of a metadata service.
func CheckPublicHost(host string, allow []netip.Prefix) error {
	if err := checkName(host); err != nil {
		return err
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if isLocalhost(name) {
		if checkPublic(netip.IPv6Loopback(), allow) == nil {
			return nil
		}
		name = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return nil // a name server knows
	}
	if err := Check(addr); err != nil {
		return err
	}
	return checkPublic(addr, allow)
}

// isLocalhost reports whether a name in lower case is of this machine (RFC 6761, section 6.3).
func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// lookupTimeout bounds the wait of [CheckPublicName] for a name server.
const lookupTimeout = 3 * time.Second

// CheckPublicName is CheckPublicHost, and also returns an error for a name if all its addresses are neither public nor in allow now. A name
// that cannot be looked up is no error: where it is used it may be known.
func CheckPublicName(ctx context.Context, host string, allow []netip.Prefix) error {
	return checkPublicName(ctx, net.DefaultResolver, host, allow)
}

func checkPublicName(ctx context.Context, resolver *net.Resolver, host string, allow []netip.Prefix) error {
	// As net/http does (RFC 3490, section 3.1): 127。0。0。1 is 127.0.0.1.
	host = strings.ReplaceAll(norm.NFKC.String(host), "。", ".")
	err := CheckPublicHost(host, allow)
	if err != nil || isLocalhost(strings.TrimSuffix(strings.ToLower(host), ".")) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for _, addr := range addrs {
		if err = errors.Join(Check(addr.Unmap()), checkPublic(addr, allow)); err == nil {
			return nil
		}
	}
	return err
}

// checkPublic returns an error for an address that is neither public nor in allow. An IPv6 form of an IPv4 address must be of a public one.
func checkPublic(addr netip.Addr, allow []netip.Prefix) error {
	plain := addr.Unmap().WithZone("")
	for _, prefix := range allow {
		if prefix.Contains(plain) {
			return nil
		}
	}
	for _, a := range append(embedded(plain), plain) {
		for _, n := range notPublic {
			if n.prefix.Contains(a) {
				return fmt.Errorf("%s: %w: %s", addr, ErrRefused, n.what)
			}
		}
	}
	if plain.Is6() && !globalUnicast.Contains(plain) && !nat64.Contains(plain) {
		return fmt.Errorf("%s: %w: not a public IPv6 address", addr, ErrRefused)
	}
	return nil
}
