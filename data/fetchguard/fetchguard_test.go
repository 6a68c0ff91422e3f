package fetchguard

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCheck(t *testing.T) {
	for _, addr := range []string{
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.42.42", "169.254.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192",
		"0.0.0.0", "0.1.2.3", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"fd00:ec2::254", "fd00:ec2::23", "fd00:ec2::253", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "fe80::1", "fe80::a9fe:a9fe%eth0", "febf::1", "::", "ff02::1",
		"::ffff:169.254.169.254", "::ffff:0.0.0.0", "::ffff:168.63.129.16", "fd00:ec2::254%eth0",
		"::169.254.169.254", "::7f00:1", "::ffff:0:a9fe:a9fe", "::ffff:0:7f00:1", // compatible, translated
		"64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b::6464:64c8", "64:ff9b:1::a9fe:a9fe", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:0:a9:fea9:fe00:0",
		"2002:a9fe:a9fe::1", "2002:7f00:1::", "2002:c000:c0::", // 6to4
		"2001:0:a9fe:a9fe::", "2001::5601:5601", // Teredo's server and client
		"2001:db8::5efe:a9fe:a9fe", "2001:db8::200:5efe:a9fe:a9fe", "fd12::5efe:7f00:1", // ISATAP
	} {
		if err := Check(netip.MustParseAddr(addr)); !errors.Is(err, ErrRefused) {
			t.Errorf("Check(%s) = %v, want it refused", addr, err)
		}
	}
	for _, addr := range []string{
		"127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "::ffff:10.0.0.1", "100.64.0.1", "100.100.100.201", "8.8.8.8", "192.0.1.1", "168.63.129.17",
		"2a00:1450:4001::1", "fd00::1", "fd20:ce::255", "fc00::1", "64:ff9b::808:808", "2002:808:808::1", "2001:db8::1", "2001:db8::5efe:808:808", "2001:db8::1:5efe:a9fe:a9fe", "169.253.0.1", "223.255.255.255",
	} {
		if err := Check(netip.MustParseAddr(addr)); err != nil {
			t.Errorf("Check(%s) = %v, want it allowed", addr, err)
		}
	}
	if err := Check(netip.Addr{}); !errors.Is(err, ErrRefused) {
		t.Errorf("Check of no address = %v", err)
	}
}

func TestCheckName(t *testing.T) {
	for host, ok := range map[string]bool{
		"metadata.google.internal": false, "Metadata.Google.Internal.": false, "metadata": false, "instance-data": false,
		"2852039166": false, "0xa9fea9fe": false, "169.16689662": false, "0251.0376.0251.0376": false, "169.254.169.0xfe": false, "127.1": false, "a.1": false, "1.2.3.4.5": false,
		"lakes.example.org": true, "metadata.example.org": true, "10.0.0.1": true, "::1": true, "example.org.": true, "x0xab.org": true, "": true, "0xlake": true, "lake1": true,
	} {
		if err := checkName(host); (err == nil) != ok {
			t.Errorf("checkName(%q) = %v, want allowed: %v", host, err, ok)
		}
	}
}

// Every IPv6 form of a refused IPv4 address is refused, whatever the bits around it are.
func FuzzCheckEmbedded(f *testing.F) {
	for _, addr := range []string{"169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "0.0.0.0", "127.0.0.1", "8.8.8.8", "255.255.255.255"} {
		f.Add(binary.BigEndian.Uint32(netip.MustParseAddr(addr).AsSlice()), uint64(0), uint64(0x0123456789abcdef))
	}
	f.Fuzz(func(t *testing.T, v4 uint32, high, low uint64) {
		b := binary.BigEndian.AppendUint32(nil, v4)
		inner := netip.AddrFrom4([4]byte(b))
		bad := Check(inner) != nil || inner.IsLoopback()
		var random [16]byte
		binary.BigEndian.PutUint64(random[:8], high)
		binary.BigEndian.PutUint64(random[8:], low)
		for name, form := range map[string]func(a *[16]byte){
			"compatible": func(a *[16]byte) { *a = [16]byte{}; copy(a[12:], b) },
			"translated": func(a *[16]byte) { *a = [16]byte{8: 0xff, 9: 0xff}; copy(a[12:], b) },
			"NAT64":      func(a *[16]byte) { *a = [16]byte{1: 0x64, 2: 0xff, 3: 0x9b}; copy(a[12:], b) },
			"NAT64 /48": func(a *[16]byte) {
				copy(a[:], "\x00\x64\xff\x9b\x00\x01")
				copy(a[6:], b[:2])
				a[8] = 0
				copy(a[9:], b[2:])
			},
			"NAT64 /56":       func(a *[16]byte) { copy(a[:], "\x00\x64\xff\x9b\x00\x01"); a[7] = b[0]; a[8] = 0; copy(a[9:], b[1:]) },
			"NAT64 /64":       func(a *[16]byte) { copy(a[:], "\x00\x64\xff\x9b\x00\x01"); a[8] = 0; copy(a[9:], b) },
			"NAT64 /96":       func(a *[16]byte) { copy(a[:], "\x00\x64\xff\x9b\x00\x01"); copy(a[12:], b) },
			"6to4":            func(a *[16]byte) { copy(a[:], "\x20\x02"); copy(a[2:], b) },
			"Teredo's server": func(a *[16]byte) { copy(a[:], "\x20\x01\x00\x00"); copy(a[4:], b) },
			"Teredo's client": func(a *[16]byte) {
				copy(a[:], "\x20\x01\x00\x00")
				for i := range b {
					a[12+i] = ^b[i]
				}
			},
			"ISATAP":        func(a *[16]byte) { copy(a[8:], "\x00\x00\x5e\xfe"); copy(a[12:], b) },
			"global ISATAP": func(a *[16]byte) { copy(a[8:], "\x02\x00\x5e\xfe"); copy(a[12:], b) },
		} {
			a := random
			form(&a)
			addr := netip.AddrFrom16(a)
			if addr == netip.IPv6Loopback() {
				continue
			}
			if err := Check(addr); bad && !errors.Is(err, ErrRefused) {
				t.Errorf("%s: %s is a form of %s, which is refused; Check = %v", name, addr, inner, err)
			}
		}
		mapped := netip.AddrFrom16(inner.As16())
		if (Check(mapped) != nil) != (Check(inner) != nil) {
			t.Errorf("Check(%s) = %v, Check(%s) = %v", mapped, Check(mapped), inner, Check(inner))
		}
	})
}

// serve starts a server that redirects to the address in the query, or says hello.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		fmt.Fprint(w, "hello")
	}))
	t.Cleanup(s.Close)
	return s
}

// get returns the body at an address.
func get(t *testing.T, guard *Transport, address string) (string, error) {
	t.Helper()
	resp, err := (&http.Client{Transport: guard}).Get(address)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func to(address string) string { return "/?to=" + url.QueryEscape(address) }

func TestLoopback(t *testing.T) {
	s, other := serve(t), serve(t)
	guard := New(&http.Transport{})
	for _, address := range []string{s.URL, s.URL + to(other.URL), s.URL + to(other.URL+to(s.URL))} {
		if body, err := get(t, guard, address); err != nil || body != "hello" {
			t.Errorf("from loopback to loopback, %s: %q, %v", address, body, err)
		}
	}
	for _, address := range []string{"http://169.254.169.254/", s.URL + to("http://[fd00:ec2::254]/"), s.URL + to("http://0.0.0.0/"), s.URL + to("http://2852039166/"), s.URL + to("http://metadata.google.internal/")} {
		if _, err := get(t, guard, address); !errors.Is(err, ErrRefused) || errors.Is(err, ErrLoopback) {
			t.Errorf("%s: %v, want it refused", address, err)
		}
	}
}

// ownAddress returns an address of this machine that is not a loopback address.
func ownAddress(t *testing.T) (netip.Addr, bool) {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() && Check(p.Addr()) == nil {
			return p.Addr(), true
		}
	}
	return netip.Addr{}, false
}

// A server on another address cannot lead a request to this machine's loopback address, not even by way of a third server.
func TestNoLoopbackAfterRedirect(t *testing.T) {
	addr, ok := ownAddress(t)
	if !ok {
		t.Log("this machine has only loopback addresses: TestProxy shows the same by a proxy")
		return
	}
	listener, err := net.Listen("tcp", netip.AddrPortFrom(addr, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := serve(t)
	away := &http.Server{Handler: elsewhere.Config.Handler}
	defer away.Close()
	go away.Serve(listener) // ends with Close
	outside := "http://" + listener.Addr().String()
	var asked atomic.Int32
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer secret.Close()
	guard := New(&http.Transport{})
	if body, err := get(t, guard, outside); err != nil || body != "hello" {
		t.Fatalf("%s: %q, %v", outside, body, err)
	}
	if body, err := get(t, guard, elsewhere.URL+to(outside)); err != nil || body != "hello" {
		t.Errorf("from loopback to elsewhere: %q, %v", body, err)
	}
	port := secret.URL[strings.LastIndexByte(secret.URL, ':'):]
	for _, target := range []string{secret.URL, "http://localhost" + port, "http://[::ffff:127.0.0.1]" + port, "http://127.9.9.9" + port} {
		for _, address := range []string{outside + to(target), outside + to(outside+to(target)), elsewhere.URL + to(outside+to(target))} {
			if _, err := get(t, guard, address); !errors.Is(err, ErrLoopback) {
				t.Errorf("%s: %v, want %v", address, err, ErrLoopback)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the loopback server was asked %d times", n)
	}
}

// The target of a proxy is checked too. The proxy itself is on this machine.
func TestProxy(t *testing.T) {
	local := serve(t)
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		local.Config.Handler.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	guard := New(&http.Transport{Proxy: func(r *http.Request) (*url.URL, error) {
		if strings.HasPrefix(r.URL.Host, "127.") { // as http.ProxyFromEnvironment
			return nil, nil
		}
		return address, nil
	}})
	names := map[string]string{"lakes.example": "192.0.2.1", "rebound.example": "169.254.169.254", "six.example": "64:ff9b::a9fe:a9fe", "inside.example": "127.0.0.1", "169.254.169.254": "169.254.169.254"}
	guard.lookup = func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if addr, ok := names[host]; ok {
			return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr(addr)}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for _, test := range []struct {
		address string
		want    error
	}{
		{"http://lakes.example/", nil},
		{"http://known-to-the-proxy.example/", nil},
		{"http://lakes.example" + to("http://known-to-the-proxy.example/"), nil},
		{"http://inside.example/", nil}, // the operator has chosen it
		{"http://rebound.example/", ErrRefused},
		{"http://six.example/", ErrRefused},
		{"http://169.254.169.254/", ErrRefused},
		{"http://0xa9fea9fe/", ErrRefused},
		{"http://lakes.example" + to("http://rebound.example/"), ErrRefused},
		{"http://lakes.example" + to("http://metadata.google.internal/"), ErrRefused},
		{"http://lakes.example" + to("http://inside.example/"), ErrLoopback},
		{"http://lakes.example" + to(local.URL), ErrLoopback},
		{"http://known-to-the-proxy.example" + to(local.URL), ErrLoopback},
		{local.URL + to("http://lakes.example/"), nil},
	} {
		body, err := get(t, guard, test.address)
		if !errors.Is(err, test.want) || test.want == nil && body != "hello" {
			t.Errorf("%s: %q, %v, want %v", test.address, body, err, test.want)
		}
	}
	if asked.Load() == 0 {
		t.Error("the proxy was not used")
	}
}

// A name whose address changes between two look-ups (DNS rebinding) is checked at each connection.
func TestRebinding(t *testing.T) {
	s := serve(t)
	var metadata atomic.Bool
	guard := newTransport(&http.Transport{}, nameServer(t, &metadata))
	address := "http://rebinding.example" + s.URL[strings.LastIndexByte(s.URL, ':'):]
	if body, err := get(t, guard, address); err != nil || body != "hello" {
		t.Fatalf("first: %q, %v", body, err)
	}
	metadata.Store(true)
	if _, err := get(t, guard, address); !errors.Is(err, ErrRefused) {
		t.Errorf("after the change: %v, want it refused", err)
	}
}

// A name whose addresses are all refused is known to be before it is used.
func TestPublicNames(t *testing.T) {
	var metadata atomic.Bool
	resolver := nameServer(t, &metadata)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	check := func(host string, allow []netip.Prefix, want bool) {
		t.Helper()
		if err := checkPublicName(t.Context(), resolver, host, allow); errors.Is(err, ErrRefused) == want {
			t.Errorf("%s with %v allowed: %v, want it taken: %t", host, allow, err, want)
		}
	}
	check("lakes.example", nil, false)
	check("lakes.example", loopback, true)
	metadata.Store(true)
	check("lakes.example", []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, false)
	for _, host := range []string{"127。0。0。1", "１２７．０．０．１", "127.1", "[::1]", "LOCALHOST."} {
		check(strings.Trim(host, "[]"), nil, false)
	}
	nowhere := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }}
	if err := checkPublicName(t.Context(), nowhere, "lakes.example", nil); err != nil {
		t.Errorf("without a name server: %v", err)
	}
}

// nameServer returns a resolver for which all names have one address: 127.0.0.1, or that of a metadata service.
func nameServer(t *testing.T, metadata *atomic.Bool) *net.Resolver {
	t.Helper()
	dns, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dns.Close() })
	go func() { // ends when dns is closed
		query := make([]byte, 512)
		for {
			n, from, err := dns.ReadFrom(query)
			if err != nil {
				return
			}
			_, _ = dns.WriteTo(dnsAnswer(query[:n], metadata.Load()), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", dns.LocalAddr().String())
	}}
}

// dnsAnswer answers a query for an IPv4 address with 127.0.0.1 or 169.254.169.254, and any other with nothing (RFC 1035, section 4).
func dnsAnswer(query []byte, metadata bool) []byte {
	const header = 12
	end := header
	for end < len(query) && query[end] != 0 {
		end += 1 + int(query[end])
	}
	end += 5 // the root, the type and the class
	answer := append([]byte(nil), query[:end]...)
	copy(answer[2:header], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if query[end-3] != 1 { // not A
		return answer
	}
	answer[7] = 1
	addr := []byte{127, 0, 0, 1}
	if metadata {
		addr = []byte{169, 254, 169, 254}
	}
	return append(append(answer, 0xc0, header, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), addr...)
}
