package middleware

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// No name that someone could register reaches the handler: a page under such a name could read its answers.
func TestHosts(t *testing.T) {
	reached := false
	h := Hosts([]string{"Metrics.Example.org", "limnomap.local."})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	for _, test := range []struct {
		host    string
		allowed bool
	}{
		{"127.0.0.1:9091", true},
		{"[::1]:9091", true},
		{"[fe80::1%25eth0]:9091", true},
		{"localhost:9091", true},
		{"LocalHost", true},
		{"limnomap.localhost:9091", true},
		{"limnomap:9090", true}, // a service of Compose
		{"", true},              // HTTP/1.0
		{"metrics.example.org:9091", true},
		{"limnomap.local", true},
		{"attacker.example:9091", false},
		{"127.0.0.1.attacker.example:9091", false},
		{"x.metrics.example.org", false},
		{"127.0.0.1.nip.io", false},
		{"0x7f.1:80", false}, // a browser writes addresses in one form
		{"attacker.example:9091:9091", false},
		{strings.Repeat("a.", 5000), false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/debug/pprof/heap", nil)
		r.Host = test.host
		w := httptest.NewRecorder()
		reached = false
		h.ServeHTTP(w, r)
		if reached != test.allowed || !test.allowed && (w.Code != http.StatusMisdirectedRequest || !strings.Contains(w.Body.String(), "--admin-host")) {
			t.Errorf("Host %.80q: the handler is reached: %v, %d %s, want %v", test.host, reached, w.Code, w.Body, test.allowed)
		}
		if w.Body.Len() > 1000 {
			t.Errorf("Host %.80q: the answer has %d bytes", test.host, w.Body.Len())
		}
	}
}
