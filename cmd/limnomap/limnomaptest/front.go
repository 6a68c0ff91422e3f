package limnomaptest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Front starts a proxy in front of the server at base and returns its address. The proxy runs until the test ends. If
// answers returns true it has answered the request itself, and the server does not see the request. passes may look at
// each answer of the server and change it. Either function may be nil; both must be safe for concurrent use. The proxy
// does not change the compression of answers.
func Front(t testing.TB, base string, answers func(http.ResponseWriter, *http.Request) bool, passes func(*http.Response)) (address string) {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		ModifyResponse: func(answer *http.Response) error {
			if passes != nil {
				passes(answer)
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // a client may close its connection early
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answers == nil || !answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		front.Close()
		transport.CloseIdleConnections()
	})
	return front.URL
}
