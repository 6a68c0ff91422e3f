package middleware

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

func proxies(prefixes ...string) []netip.Prefix {
	var ps []netip.Prefix
	for _, p := range prefixes {
		ps = append(ps, netip.MustParsePrefix(p))
	}
	return ps
}

func TestClientAddr(t *testing.T) {
	own := proxies("10.0.0.0/8", "fd00::/8")
	for _, tt := range []struct {
		name    string
		peer    string
		trusted []netip.Prefix
		xff     []string
		want    string
	}{
		{"peer", "192.0.2.1:4000", nil, nil, "192.0.2.1"},
		{"mapped peer", "[::ffff:192.0.2.1]:4000", nil, nil, "192.0.2.1"},
		{"zone", "[fe80::1%eth0]:4000", nil, nil, "fe80::1"},
		{"no one trusted", "10.0.0.1:4000", nil, []string{"192.0.2.9"}, "10.0.0.1"},
		{"untrusted peer lies", "192.0.2.1:4000", own, []string{"192.0.2.9"}, "192.0.2.1"},
		{"trusted", "10.0.0.1:4000", own, []string{"192.0.2.9"}, "192.0.2.9"},
		{"prefix written mapped", "10.0.0.1:4000", proxies("::ffff:10.0.0.0/104"), []string{"192.0.2.9"}, "192.0.2.9"},
		{"client's own address left of the proxy's", "10.0.0.1:4000", own, []string{"198.51.100.1, 192.0.2.9"}, "192.0.2.9"},
		{"chain of proxies", "10.0.0.1:4000", own, []string{"192.0.2.9, 10.0.0.3 ,10.0.0.2"}, "192.0.2.9"},
		{"several lines", "10.0.0.1:4000", own, []string{"192.0.2.9", "10.0.0.3,10.0.0.2"}, "192.0.2.9"},
		{"all trusted", "10.0.0.1:4000", own, []string{"10.0.0.3,10.0.0.2"}, "10.0.0.3"},
		{"no header", "10.0.0.1:4000", own, nil, "10.0.0.1"},
		{"garbage ends the search", "10.0.0.1:4000", own, []string{"192.0.2.9, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"empty element ends the search", "10.0.0.1:4000", own, []string{"192.0.2.9,,10.0.0.2"}, "10.0.0.2"},
		{"port", "10.0.0.1:4000", own, []string{"192.0.2.9:5000"}, "192.0.2.9"},
		{"v6 brackets", "10.0.0.1:4000", own, []string{"[2001:db8::9]"}, "2001:db8::9"},
		{"v4 brackets are garbage", "10.0.0.1:4000", own, []string{"[192.0.2.9]"}, "10.0.0.1"},
		{"mapped hop", "10.0.0.1:4000", own, []string{"::ffff:192.0.2.9"}, "192.0.2.9"},
		{"endless list", "10.0.0.1:4000", own, []string{"192.0.2.9" + strings.Repeat(",10.0.0.2", 100)}, "10.0.0.2"},
		{"unix socket", "@", own, []string{"192.0.2.9"}, "192.0.2.9"},
		{"unix socket, no one trusted", "@", nil, []string{"192.0.2.9"}, "invalid IP"},
		{"peer without an address", "nonsense:80", own, []string{"192.0.2.9"}, "invalid IP"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := apitest.From(tt.peer, http.Header{"X-Forwarded-For": tt.xff})
			if got := clientAddr(r, tt.trusted).String(); got != tt.want {
				t.Errorf("clientAddr(peer %s, X-Forwarded-For %q) = %s, want %s", tt.peer, tt.xff, got, tt.want)
			}
		})
	}
}

func TestClientAddrIsStored(t *testing.T) {
	var got netip.Addr
	h := ClientAddr(func() []netip.Prefix { return proxies("10.0.0.0/8") })(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = answer.ClientAddr(r) }))
	apitest.Serve(t, h, apitest.From("10.0.0.1:1", http.Header{"X-Forwarded-For": {"192.0.2.9"}}))
	if want := netip.MustParseAddr("192.0.2.9"); got != want {
		t.Errorf("ClientAddr inside the middleware = %s, want %s", got, want)
	}
	if got, want := answer.ClientAddr(apitest.From("10.0.0.1:1", nil)), netip.MustParseAddr("10.0.0.1"); got != want {
		t.Errorf("ClientAddr without the middleware = %s, want the peer %s", got, want)
	}
}

func TestForwardedOrigin(t *testing.T) {
	own := proxies("10.0.0.0/8")
	for _, tt := range []struct {
		name, peer  string
		proto, host []string
		want        string // empty: not ok
	}{
		{"both", "10.0.0.1:1", []string{"https"}, []string{"lakes.example.org"}, "https://lakes.example.org"},
		{"port", "10.0.0.1:1", []string{"http"}, []string{"lakes.example.org:8080"}, "http://lakes.example.org:8080"},
		{"upper case", "10.0.0.1:1", []string{"HTTPS"}, []string{"Lakes.Example.ORG"}, "https://lakes.example.org"},
		{"IPv6", "10.0.0.1:1", []string{"https"}, []string{"[2001:db8::1]:8443"}, "https://[2001:db8::1]:8443"},
		{"unix socket", "@", []string{"https"}, []string{"lakes.example.org"}, "https://lakes.example.org"},
		{"untrusted", "192.0.2.1:1", []string{"https"}, []string{"lakes.example.org"}, ""},
		{"no scheme", "10.0.0.1:1", nil, []string{"lakes.example.org"}, ""},
		{"two hosts", "10.0.0.1:1", []string{"https"}, []string{"a.example", "b.example"}, ""},
		{"list of hosts", "10.0.0.1:1", []string{"https"}, []string{"a.example, b.example"}, ""},
		{"other scheme", "10.0.0.1:1", []string{"javascript"}, []string{"a.example"}, ""},
		{"path", "10.0.0.1:1", []string{"https"}, []string{"a.example/x"}, ""},
		{"empty label", "10.0.0.1:1", []string{"https"}, []string{"a..example"}, ""},
		{"port 0", "10.0.0.1:1", []string{"https"}, []string{"a.example:0"}, ""},
		{"port with sign", "10.0.0.1:1", []string{"https"}, []string{"a.example:+80"}, ""},
		{"bracket open", "10.0.0.1:1", []string{"https"}, []string{"[2001:db8::1"}, ""},
		{"junk after bracket", "10.0.0.1:1", []string{"https"}, []string{"[2001:db8::1]x"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := apitest.From(tt.peer, http.Header{"X-Forwarded-Proto": tt.proto, "X-Forwarded-Host": tt.host})
			scheme, host, ok := ForwardedOrigin(r, own)
			got := ""
			if ok {
				got = scheme + "://" + host
			}
			if got != tt.want {
				t.Errorf("ForwardedOrigin(%q, %q) = %q, want %q", tt.proto, tt.host, got, tt.want)
			}
		})
	}
}

func FuzzClientAddr(f *testing.F) {
	f.Add("10.0.0.1:1", "192.0.2.9, 10.0.0.2", "[::ffff:10.0.0.3]:80")
	f.Add("@", "fe80::1%eth0,", ",,")
	f.Add("[::1]:1", "unknown", "1.2.3.4:x")
	trusted := proxies("10.0.0.0/8", "::1/128")
	f.Fuzz(func(t *testing.T, peer, first, second string) {
		r := apitest.From(peer, http.Header{"X-Forwarded-For": {first, second}})
		a := clientAddr(r, trusted)
		if a.Zone() != "" || a.Is4In6() {
			t.Errorf("clientAddr = %s, want no zone and no mapped address", a)
		}
		if p := answer.PeerAddr(r); p.IsValid() && !contains(trusted, p) && a != p {
			t.Errorf("clientAddr = %s, want the untrusted peer %s", a, p)
		}
		if got := clientAddr(r, nil); got != answer.PeerAddr(r) {
			t.Errorf("clientAddr with no one trusted = %s, want the peer %s", got, answer.PeerAddr(r))
		}
	})
}

func FuzzForwardedOrigin(f *testing.F) {
	f.Add("https", "lakes.example.org:8443")
	f.Add("http", "[2001:db8::1]:80")
	f.Add("HTTP", "a b")
	f.Fuzz(func(t *testing.T, proto, host string) {
		r := apitest.From("10.0.0.1:1", http.Header{"X-Forwarded-Proto": {proto}, "X-Forwarded-Host": {host}})
		scheme, h, ok := ForwardedOrigin(r, proxies("10.0.0.0/8"))
		if !ok {
			return
		}
		u, err := url.Parse(scheme + "://" + h)
		if err != nil {
			t.Fatalf("ForwardedOrigin(%q, %q) = %q, %q: no URL: %v", proto, host, scheme, h, err)
		}
		if u.Host != h || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Scheme != scheme {
			t.Errorf("ForwardedOrigin(%q, %q) = %q, %q: more than an origin", proto, host, scheme, h)
		}
		if strings.ContainsAny(h, "\"'<>&; ,\r\n") {
			t.Errorf("ForwardedOrigin(%q, %q): host %q needs escaping", proto, host, h)
		}
	})
}
