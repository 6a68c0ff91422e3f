package middleware

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"testing"

	"limnomap/api/apitest"
)

// arriving returns a request with that Host from peer at the address local, with TLS or without.
func arriving(peer string, local net.Addr, host string, secure bool, header http.Header) *http.Request {
	r := apitest.From(peer, header)
	r.Host = host
	if secure {
		r.TLS = &tls.ConnectionState{}
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
}

func TestLocalOrigin(t *testing.T) {
	for _, tt := range []struct {
		name, local, host string
		secure            bool
		want              string // empty: not ok
	}{
		{"IPv4", "127.0.0.1:8080", "127.0.0.1:8080", false, "http://127.0.0.1:8080"},
		{"IPv4 over TLS", "127.0.0.1:8443", "127.0.0.1:8443", true, "https://127.0.0.1:8443"},
		{"IPv6", "[2001:db8::1]:8080", "[2001:db8::1]:8080", false, "http://[2001:db8::1]:8080"},
		{"another spelling of IPv6", "[2001:db8::1]:8080", "[2001:DB8:0:0::0:1]:8080", false, "http://[2001:db8::1]:8080"},
		{"IPv4 on a socket of IPv6", "[::ffff:192.0.2.7]:8080", "192.0.2.7:8080", false, "http://192.0.2.7:8080"},
		{"mapped IPv4", "192.0.2.7:8080", "[::ffff:c000:207]:8080", false, "http://192.0.2.7:8080"},
		{"localhost", "127.0.0.1:8080", "localhost:8080", false, "http://localhost:8080"},
		{"localhost on a socket of IPv6", "[::ffff:127.0.0.1]:8080", "localhost:8080", true, "https://localhost:8080"},
		{"default port", "192.0.2.7:80", "192.0.2.7", false, "http://192.0.2.7"},
		{"default port of TLS", "[::1]:443", "localhost", true, "https://localhost"},

		{"default port of the other scheme", "192.0.2.7:443", "192.0.2.7", false, ""},
		{"another port", "127.0.0.1:8080", "127.0.0.1:9090", false, ""},
		{"no port", "127.0.0.1:8080", "127.0.0.1", false, ""},
		{"two ports", "127.0.0.1:80", "127.0.0.1:80:80", false, ""},
		{"forwarded to a container", "172.17.0.2:8080", "localhost:8080", false, ""},
		{"name", "127.0.0.1:8080", "evil.example.org:8080", false, ""},
		{"name that begins with the address", "127.0.0.1:8080", "127.0.0.1.evil.example.org:8080", false, ""},
		{"user", "127.0.0.1:8080", "evil.example.org@127.0.0.1:8080", false, ""},
		{"IPv6 without brackets", "[::1]:8080", "::1:8080", false, ""},
		{"IPv4 in brackets", "127.0.0.1:8080", "[127.0.0.1]:8080", false, ""},
		{"link-local", "[fe80::1%eth0]:8080", "[fe80::1]:8080", false, ""},
		{"empty", "127.0.0.1:80", "", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			local := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.local))
			got := origin(LocalOrigin(arriving("192.0.2.9:1", local, tt.host, tt.secure, nil), nil))
			if got != tt.want {
				t.Errorf("LocalOrigin(%q at %s) = %q, want %q", tt.host, tt.local, got, tt.want)
			}
		})
	}
}

// origin returns the results of LocalOrigin as one text, empty if they are not ok.
func origin(scheme, host string, ok bool) string {
	if !ok {
		return ""
	}
	return scheme + "://" + host
}

func TestLocalOriginBehindAProxy(t *testing.T) {
	const here = "127.0.0.1:8080"
	local := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(here))
	trusted := proxies("127.0.0.0/8", "10.0.0.0/8")
	for _, tt := range []struct {
		name, peer string
		change     func(*http.Request)
		ok         bool
	}{
		{"client", "127.7.0.1:1", nil, false}, // it is in trusted
		{"trusted proxy", "10.0.0.1:1", nil, false},
		{"trusted proxy, mapped", "[::ffff:10.0.0.1]:1", nil, false},
		{"HTTP/2", "192.0.2.9:1", func(r *http.Request) { r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0 }, true},
		{"HTTP/1.0", "192.0.2.9:1", func(r *http.Request) { r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0 }, false},
		{"X-Forwarded-For", "192.0.2.9:1", func(r *http.Request) { r.Header.Set("X-Forwarded-For", "198.51.100.7") }, false},
		{"X-Forwarded-Proto, empty", "192.0.2.9:1", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "") }, false},
		{"Forwarded", "192.0.2.9:1", func(r *http.Request) { r.Header.Set("Forwarded", "for=198.51.100.7") }, false},
		{"X-Real-IP", "192.0.2.9:1", func(r *http.Request) { r.Header.Set("X-Real-IP", "198.51.100.7") }, false},
		{"Via", "192.0.2.9:1", func(r *http.Request) { r.Header.Set("Via", "1.1 a") }, false},
		{"another field", "192.0.2.9:1", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := arriving(tt.peer, local, here, false, nil)
			if tt.change != nil {
				tt.change(r)
			}
			if got := origin(LocalOrigin(r, trusted)); (got == "http://"+here) != tt.ok || !tt.ok && got != "" {
				t.Errorf("LocalOrigin = %q, want it ok: %t", got, tt.ok)
			}
		})
	}
}

func TestLocalOriginNeedsATCPConnection(t *testing.T) {
	for _, local := range []net.Addr{nil, &net.UnixAddr{Name: "127.0.0.1:80", Net: "unix"}, &net.TCPAddr{}, (*net.TCPAddr)(nil)} {
		for _, host := range []string{"127.0.0.1", "127.0.0.1:80", "localhost", ":0", ""} {
			if got := origin(LocalOrigin(arriving("@", local, host, false, nil), nil)); got != "" {
				t.Errorf("LocalOrigin(%q at %v) = %q, want none", host, local, got)
			}
		}
	}
	if got := origin(LocalOrigin(apitest.From("192.0.2.9:1", nil), nil)); got != "" {
		t.Errorf("LocalOrigin without a connection = %q, want none", got)
	}
}

// Whatever Host says, the result is one of the few spellings of the address of the connection.
func FuzzLocalOrigin(f *testing.F) {
	f.Add("127.0.0.1:8080", uint16(8080), true, false)
	f.Add("[::1]", uint16(443), false, true)
	f.Add("localhost:80", uint16(80), true, false)
	f.Add("[::ffff:127.0.0.1]:8080", uint16(8080), true, true)
	f.Fuzz(func(t *testing.T, host string, port uint16, v4, secure bool) {
		local := &net.TCPAddr{IP: net.IPv6loopback, Port: int(port)}
		if v4 {
			local.IP = net.IPv4(127, 0, 0, 1)
		}
		scheme, got, ok := LocalOrigin(arriving("192.0.2.9:1", local, host, secure, nil), nil)
		if !ok {
			return
		}
		u, err := url.Parse(scheme + "://" + got)
		if err != nil || u.Host != got || scheme != map[bool]string{false: "http", true: "https"}[secure] {
			t.Fatalf("LocalOrigin(%q) = %q, %q: %v", host, scheme, got, err)
		}
		if name := u.Hostname(); name != "localhost" && name != local.IP.String() {
			t.Errorf("LocalOrigin(%q) has the host %q, want localhost or %s", host, name, local.IP)
		}
		if p := u.Port(); p != "" && p != strconv.Itoa(local.Port) || p == "" && port != 80 && port != 443 {
			t.Errorf("LocalOrigin(%q) has the port %q, want %d", host, p, port)
		}
	})
}
